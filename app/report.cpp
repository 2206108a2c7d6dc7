#include "app/report.h"

#include <QBuffer>
#include <QDir>
#include <QPdfWriter>
#include <QTextDocument>
#include <QUrl>

#include "app/analysis_model.h"
#include "app/chart_series.h"
#include "app/paths.h"
#include "app/run_library.h"
#include "engine/atomic_file.h"
#include "engine/data/task.h"
#include "engine/error.h"
#include "engine/version.h"
#include "widgets/figure_export.h"
#include "widgets/plot.h"

namespace app {
namespace {

constexpr std::int64_t kRows = 512;

struct Chart {
  QString name;
  QString title;
  QString y_title;
  std::vector<widgets::Series> (*series)(const ChartInput&);
  bool log_y = false;
};

std::vector<Chart> charts() {
  return {{"loss", "Training loss by pass", "loss (nats)", loss_series, true},
          {"validation", "Validation loss by pass", "loss (nats)", validation_series, true},
          {"learning-rate", "Learning rate", "rate", rate_series},
          {"gradient-norm", "Gradient norm", "norm", gradient_series, true}};
}

widgets::FigureMetadata metadata_of(const RunData& run) {
  return {{"run", QString::fromStdString(run.id)},
          {"name", QString::fromStdString(run.name)},
          {"step", QString::number(run.step())},
          {"seed", QString::number(run.seed)},
          {"config", QString::fromStdString(run.config_hash)},
          {"version", engine::version()}};
}

void export_charts(const RunData& run, const QDir& folder) {
  using widgets::FigureFormat;
  for (const Chart& chart : charts()) {
    widgets::Plot plot;
    plot.resize(640, 360);
    plot.set_title(chart.title);
    plot.set_axes("step", chart.y_title);
    widgets::PlotView view;
    view.log_y = chart.log_y;
    plot.set_view(view);
    plot.set_series(chart.series({{&run}, {0}, XAxis::step}));
    for (const FigureFormat format : {FigureFormat::pdf, FigureFormat::svg, FigureFormat::png, FigureFormat::csv}) {
      widgets::FigureOptions options;
      options.format = format;
      options.caption = true;
      options.metadata = metadata_of(run);
      widgets::export_figure(plot, options, folder.filePath(chart.name + "." + widgets::format_suffix(format)));
    }
  }
}

QString percent(double share) { return QString::number(100 * share, 'f', 1) + " %"; }

QString cell(const QString& text) { return "<td>" + text + "</td>"; }

QString answers_table(const std::vector<TaskResult>& results) {
  QString html =
      "<table cellpadding=\"4\" border=\"0\"><tr><th align=\"left\">task</th><th align=\"left\">mode</th><th "
      "align=\"left\">answers "
      "right</th><th align=\"left\">standard error</th><th align=\"left\">tokens, median (quartiles)</th><th "
      "align=\"left\">capped</th><th align=\"left\">prompts</th></tr>";
  for (const TaskResult& result : results) {
    const engine::EvaluationSummary& s = result.summary;
    html +=
        "<tr>" + cell(QString::fromStdString(result.task).toHtmlEscaped()) +
        cell(QString::fromStdString(engine::to_string(result.mode))) + cell("<b>" + percent(s.accuracy) + "</b>") +
        cell(percent(s.accuracy_error)) +
        cell(QString("%1 (%2 to %3)").arg(s.tokens_median).arg(s.tokens_lower_quartile).arg(s.tokens_upper_quartile)) +
        cell(QString::number(s.capped)) + cell(QString::number(s.rows)) + "</tr>";
  }
  return html + "</table>";
}

QString validation_sentence(const RunData& run) {
  if (run.validations.empty()) return {};
  const engine::ValidationMetrics& last = run.validations.back();
  QStringList losses;
  for (std::size_t k = 0; k < last.pass_loss.size(); ++k) {
    losses
        << QString("pass %1: %2 ± %3").arg(k + 1).arg(last.pass_loss[k], 0, 'f', 4).arg(last.pass_error[k], 0, 'f', 4);
  }
  return QString("<p>Held-out loss at step %1 in nats, with one standard error, on %2 rows: %3.</p>")
      .arg(last.step)
      .arg(last.rows)
      .arg(losses.join("; "));
}

QString settings_sentence(const RunData& run) {
  if (!run.recipe || run.steps.empty()) return {};
  const engine::Recipe& recipe = *run.recipe;
  QStringList schedule;
  for (const engine::Stage& stage : recipe.train.schedule) {
    schedule << QString("K = %1 for %2").arg(stage.passes).arg(percent(stage.share));
  }
  const engine::StepMetrics& last = run.steps.back();
  return QString(
             "<p>Width %1, %2 layers, %3 heads; %4 steps of %5 rows of %6 tokens; %7. It saw %8 tokens, %9 "
             "token-equivalents, in %10 s of training.</p>")
      .arg(recipe.model.dim)
      .arg(recipe.model.layers)
      .arg(recipe.model.heads)
      .arg(last.step)
      .arg(recipe.train.rows)
      .arg(recipe.data.seq)
      .arg(schedule.join(", "))
      .arg(last.tokens)
      .arg(last.token_equivalents)
      .arg(last.wall_seconds, 0, 'f', 1);
}

QByteArray results_csv(const std::vector<TaskResult>& results, const RunData& run) {
  widgets::FigureTable table;
  table.columns = {"task",
                   "mode",
                   "rows",
                   "accuracy",
                   "accuracy_error",
                   "tokens_median",
                   "tokens_lower_quartile",
                   "tokens_upper_quartile",
                   "capped"};
  for (const TaskResult& result : results) {
    const engine::EvaluationSummary& s = result.summary;
    table.rows.push_back({QString::fromStdString(result.task), QString::fromStdString(engine::to_string(result.mode)),
                          QString::number(s.rows), QString::number(s.accuracy), QString::number(s.accuracy_error),
                          QString::number(s.tokens_median), QString::number(s.tokens_lower_quartile),
                          QString::number(s.tokens_upper_quartile), QString::number(s.capped)});
  }
  return widgets::to_csv(table, metadata_of(run));
}

QByteArray to_pdf(const QString& html, const QDir& folder) {
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  QPdfWriter writer(&buffer);
  writer.setPageSize(QPageSize(QPageSize::A4));
  writer.setPageMargins(QMarginsF(18, 16, 18, 16), QPageLayout::Millimeter);
  QTextDocument document;
  document.setBaseUrl(QUrl::fromLocalFile(folder.absolutePath() + "/"));
  document.setHtml(html);
  document.setPageSize(QSizeF(writer.width(), writer.height()) * 96.0 / writer.resolution());
  document.print(&writer);
  buffer.close();
  return bytes;
}

}  // namespace

std::vector<TaskResult> measure_answers(const RunData& run, std::int64_t rows,
                                        const std::function<void(const std::string&)>& on_progress) {
  std::vector<TaskResult> results;
  if (!run.recipe) return results;
  engine::InferenceModel model(read_checkpoint(run.key));
  for (nlohmann::json options : run.recipe->data.tasks) {
    options.erase("share");
    const auto task = engine::data::make_task(options, run.recipe->data.validation_share);
    const auto questions = engine::task_questions(*task, run.seed, rows);
    for (const auto mode : {engine::DecodeMode::standard, engine::DecodeMode::soft, engine::DecodeMode::fused}) {
      if (on_progress) on_progress("answering " + task->name() + ", " + engine::to_string(mode));
      engine::EvaluationSettings settings;
      settings.mode = mode;
      settings.sampler.seed = run.seed;
      results.push_back({task->name(), mode, engine::summarize(engine::answer_questions(model, questions, settings))});
    }
  }
  return results;
}

QString report_html(const RunData& run, const std::vector<TaskResult>& results) {
  const QString claim = run.recipe ? QString::fromStdString(run.recipe->claim).toHtmlEscaped() : QString();
  QString html =
      QString(
          "<html><head><meta charset=\"utf-8\"><title>%1</title></head><body style=\"font-family: Inter, 'DejaVu "
          "Sans', sans-serif; font-size: 10pt; max-width: 760px; margin: 24px auto\">"
          "<h2>%1</h2><p>%2</p>")
          .arg(QString::fromStdString(run.name).toHtmlEscaped(), claim);
  html += settings_sentence(run);
  html += "<h3>Answers to held-out prompts, greedy</h3>" + answers_table(results);
  html += validation_sentence(run);
  html += "<p><img src=\"loss.png\" width=\"430\"></p><p><img src=\"validation.png\" width=\"430\"></p>";
  html +=
      QString(
          "<p style=\"color: #667080; font-size: 8pt\">Run %1, seed %2, configuration %3, Fullband %4. The pictures "
          "lie beside this page as PDF, SVG, PNG and CSV.</p></body></html>")
          .arg(QString::fromStdString(run.id))
          .arg(run.seed)
          .arg(QString::fromStdString(run.config_hash), QString(engine::version()));
  return html;
}

void write_report(const std::string& run_key, const QString& folder,
                  const std::function<void(const std::string&)>& on_progress) {
  const RunData run = run_key == kDemoKey ? load_demo() : load_run_folder(run_key);
  if (!run.recipe && !run.problem.empty()) throw engine::Error(run.problem);  // names its file
  if (!run.recipe) throw engine::FileError(run_key, "holds no run");
  const QDir directory(folder);
  if (!directory.mkpath(".")) throw engine::FileError(folder.toStdString(), "cannot be made; name a folder that can");
  engine::require_writable(to_path(directory.filePath("report.html")));
  const std::vector<TaskResult> results = measure_answers(run, kRows, on_progress);
  if (on_progress) on_progress("drawing");
  export_charts(run, directory);
  const QString html = report_html(run, results);
  widgets::write_file(directory.filePath("report.html"), html.toUtf8());
  widgets::write_file(directory.filePath("report.pdf"), to_pdf(html, directory));
  widgets::write_file(directory.filePath("results.csv"), results_csv(results, run));
}

}  // namespace app
