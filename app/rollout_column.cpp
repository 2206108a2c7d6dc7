#include "app/rollout_column.h"

#include <QEvent>
#include <QVBoxLayout>

#include "app/rollout_report.h"
#include "widgets/numbers.h"
#include "widgets/palette.h"
#include "widgets/stat_table.h"
#include "widgets/style.h"

namespace app {

namespace {

using engine::DecodeMode;
using engine::StopReason;

QString stop_text(StopReason reason) {
  switch (reason) {
    case StopReason::end_of_text:
      return QObject::tr("eot");
    case StopReason::stop_string:
      return QObject::tr("stop string");
    case StopReason::length_cap:
      return QObject::tr("cap");
    case StopReason::cancelled:
      return QObject::tr("cancelled");
  }
  return {};
}

QString stop_hint(StopReason reason) {
  switch (reason) {
    case StopReason::end_of_text:
      return QObject::tr("The model ended the text.");
    case StopReason::stop_string:
      return QObject::tr("A stop string appeared.");
    case StopReason::length_cap:
      return QObject::tr("Cut at the most tokens allowed: its length says nothing.");
    case StopReason::cancelled:
      return QObject::tr("Stopped by hand.");
  }
  return {};
}

QString verdict_text(Decoder::Verdict verdict) {
  switch (verdict) {
    case Decoder::Verdict::right:
      return QString(QChar(0x2713));
    case Decoder::Verdict::wrong:
      return QString(QChar(0x2717));
    case Decoder::Verdict::unknown:
      return QString(QChar(0x2013));
  }
  return {};
}

QString verdict_hint(Decoder::Verdict verdict) {
  switch (verdict) {
    case Decoder::Verdict::right:
      return QObject::tr("The answer is right.");
    case Decoder::Verdict::wrong:
      return QObject::tr("The answer is wrong.");
    case Decoder::Verdict::unknown:
      return QObject::tr("Known only for the example prompts of the run's tasks.");
  }
  return {};
}

}  // namespace

RolloutColumn::RolloutColumn(DecodeMode mode, QWidget* parent)
    : Card(widgets::mode_name(mode), parent),
      mode_(mode),
      strip_(new widgets::TokenStrip(this)),
      stats_(new widgets::StatRow(this)) {
  setAccessibleName(tr("%1 rollout").arg(widgets::mode_name(mode)));
  strip_->set_mode(mode);
  strip_->set_empty_text(tr("no rollout yet: type a prompt and press Run"));
  strip_->setAccessibleName(tr("Tokens of the %1 rollout").arg(widgets::mode_name(mode)));
  body()->addWidget(strip_, 1);
  body()->addWidget(stats_);
  refresh_marker();
  show_progress();
}

void RolloutColumn::refresh_marker() { set_marker(widgets::mode_color(widgets::theme_of(palette()), mode_)); }

void RolloutColumn::changeEvent(QEvent* event) {
  Card::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && strip_ != nullptr) refresh_marker();
}

void RolloutColumn::show_prefill(int passes) {
  set_caption(passes == 1 ? tr("prefill 1 pass") : tr("prefill %1 passes").arg(passes));
}

void RolloutColumn::begin(const engine::RolloutRequest& request) {
  request_ = request;
  rollout_.reset();
  count_ = 0;
  milliseconds_ = 0;
  strip_->clear();
  const int passes = mode_ == DecodeMode::fused ? 1 + request.fused_prefill_passes : 1;
  show_prefill(passes);
  show_progress();
}

void RolloutColumn::add_token(const engine::RolloutToken& token) {
  strip_->append(token);
  ++count_;
  milliseconds_ += token.milliseconds;
  show_progress();
}

void RolloutColumn::show_progress() {
  const QString none(QChar(0x2013));
  const QString speed = count_ > 0 ? widgets::short_number(milliseconds_ / static_cast<double>(count_), 2) : none;
  stats_->set_stats({{tr("tokens"), QString::number(count_), tr("Generated tokens, end of text included.")},
                     {tr("ms/token"), speed, tr("Prefill left out.")},
                     {tr("stop"), none, {}},
                     {tr("answer"), none, {}}});
}

void RolloutColumn::finish(const engine::Rollout& rollout, Decoder::Verdict verdict) {
  rollout_ = rollout;
  strip_->finish();
  show_prefill(rollout.prefill_passes);
  stats_->set_stats({{tr("tokens"), QString::number(rollout.tokens.size()),
                      tr("Generated tokens, end of text included; at most %1.").arg(rollout.request.max_tokens)},
                     {tr("ms/token"), widgets::short_number(milliseconds_per_token(rollout), 2),
                      tr("Prefill took %1 ms more.").arg(widgets::short_number(rollout.prefill_milliseconds))},
                     {tr("stop"), stop_text(rollout.stop), stop_hint(rollout.stop)},
                     {tr("answer"), verdict_text(verdict), verdict_hint(verdict)}});
}

void RolloutColumn::fail(const QString& sentence) {
  const QString none(QChar(0x2013));
  stats_->set_stats({{tr("tokens"), none, {}},
                     {tr("ms/token"), none, {}},
                     {tr("stop"), tr("error"), sentence},
                     {tr("answer"), none, {}}});
}

}  // namespace app
