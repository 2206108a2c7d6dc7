#include "app/now_table.h"

#include <QObject>
#include <QStringList>
#include <exception>

#include "engine/trainer.h"
#include "widgets/numbers.h"

namespace app {

namespace {

using widgets::count_text;
using widgets::short_number;
using widgets::Stat;

QString tr(const char* text) { return QObject::tr(text); }

QString joined(const std::vector<double>& values) {
  QStringList texts;
  for (const double value : values) texts << short_number(value);
  return texts.join(" / ");
}

QString pass_list(std::size_t passes) {
  QStringList numbers;
  for (std::size_t pass = 1; pass <= passes; ++pass) numbers << QString::number(pass);
  return numbers.join(" / ");
}

void add_validation(std::vector<Stat>& rows, const RunData& run) {
  if (run.validations.empty()) return;
  const auto& last = run.validations.back();
  rows.push_back({tr("validation loss"), joined(last.pass_loss),
                  tr("Mean over %1 held-out rows at step %2, a figure a pass.").arg(last.rows).arg(last.step)});
  if (!last.pass_accuracy.empty()) {
    QStringList texts;
    for (const double share : last.pass_accuracy) texts << short_number(100 * share) + " %";
    rows.push_back({tr("answers right"), texts.join(" / "),
                    tr("Share of %1 held-out rows whose answer tokens are all the most likely ones.").arg(last.rows)});
  }
}

}  // namespace

std::vector<Stat> now_rows(const RunData& run, double seconds_left, std::int64_t memory) {
  std::vector<Stat> rows;
  const QString total = run.total_steps > 0 ? " / " + QString::number(run.total_steps) : QString();
  rows.push_back({tr("step"), QString::number(run.step()) + total, {}});
  if (run.steps.empty()) return rows;
  const auto& last = run.steps.back();
  rows.push_back(
      {tr("token-equivalents"), count_text(last.token_equivalents),
       tr("Tokens times passes, the cost; %1 tokens were seen, padding left out.").arg(count_text(last.tokens))});
  rows.push_back({tr("loss, pass ") + pass_list(last.pass_loss.size()), joined(last.pass_loss), tr("Nats a token.")});
  add_validation(rows, run);
  rows.push_back({tr("gradient norm"), short_number(last.gradient_norm), tr("Before clipping.")});
  rows.push_back({tr("elapsed"), widgets::duration_text(last.wall_seconds), tr("Pauses left out.")});
  if (seconds_left >= 1) {
    rows.push_back({tr("remaining"), widgets::duration_text(seconds_left),
                    tr("From the newest steps, weighted with the passes still to come.")});
  }
  if (memory >= 1) rows.push_back({tr("memory"), widgets::bytes_text(memory), tr("Held by the engine.")});
  return rows;
}

Stat memory_row(const engine::Recipe& recipe) {
  QString text(QChar(0x2013));
  try {
    text = widgets::bytes_text(engine::estimate_memory(recipe));
  } catch (const std::exception&) {
    text = tr("unknown");  // the message of the field that cannot be used is beside it
  }
  return {tr("memory to train this recipe"), text, tr("Estimated from the settings in the form.")};
}

std::vector<Stat> plan_rows(const engine::Recipe& recipe) {
  try {
    recipe.validate();
    const std::int64_t tokens = recipe.train.steps * recipe.train.rows * recipe.data.seq;
    double passes = 0;
    for (const engine::Stage& stage : recipe.train.schedule) passes += stage.share * stage.passes;
    const auto equivalents = static_cast<std::int64_t>(passes * static_cast<double>(tokens));
    return {{tr("tokens, at most"), count_text(tokens), tr("Steps × rows × tokens; padding does not count.")},
            {tr("token-equivalents"), count_text(equivalents), tr("Tokens times passes: the cost.")},
            memory_row(recipe)};
  } catch (const std::exception&) {
    return {{tr("the settings"), tr("cannot be used"), tr("The message is beside the field.")}};
  }
}

}  // namespace app
