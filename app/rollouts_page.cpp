#include "app/rollouts_page.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QVBoxLayout>
#include <exception>
#include <nlohmann/json.hpp>

#include "app/action_button.h"
#include "app/rollout_column.h"
#include "app/rollout_controls.h"
#include "app/rollout_report.h"
#include "engine/error.h"
#include "engine/json_io.h"
#include "widgets/banner.h"
#include "widgets/card.h"
#include "widgets/figure_export.h"
#include "widgets/numbers.h"
#include "widgets/palette.h"
#include "widgets/style.h"

namespace app {

namespace {

using State = WorkerSnapshot::State;

constexpr int kPollMilliseconds = 40;
constexpr int kGap = 12;
constexpr int kLegendWidth = 80;

}  // namespace

RolloutsPage::RolloutsPage(Opener open, QWidget* parent)
    : QWidget(parent),
      open_(std::move(open)),
      run_(make_action(this, tr("Run the rollouts"), QKeySequence(Qt::CTRL | Qt::Key_Return),
                       [this] { run_or_cancel(); })),
      copy_(make_action(this, tr("Copy the rollouts as JSON"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C),
                        [this] { copy_rollouts(); })),
      save_(make_action(this, tr("Save the rollouts as JSON or CSV…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_S),
                        [this] { save_rollouts(); })) {
  build();
  timer_.setInterval(kPollMilliseconds);
  connect(&timer_, &QTimer::timeout, this, &RolloutsPage::poll);
  show_state();
}

RolloutsPage::~RolloutsPage() = default;

void RolloutsPage::build() {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(kGap);
  banner_ = new widgets::Banner(this);
  banner_->hide();
  layout->addWidget(banner_);

  prompt_card_ = new widgets::Card(tr("Prompt"), this);
  prompt_card_->set_heading_style();
  controls_ = new RolloutControls(run_, prompt_card_);
  prompt_card_->body()->addWidget(controls_);
  prompt_card_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
  layout->addWidget(prompt_card_);

  auto* row = new QHBoxLayout;
  row->setSpacing(kGap);
  const std::array modes = {engine::DecodeMode::standard, engine::DecodeMode::soft, engine::DecodeMode::fused};
  for (std::size_t i = 0; i < modes.size(); ++i) {
    columns_[i] = new RolloutColumn(modes[i], this);
    row->addWidget(columns_[i], 1);
  }
  layout->addLayout(row, 1);
  layout->addWidget(make_footer());
  connect(controls_, &RolloutControls::changed, this, &RolloutsPage::form_changed);
}

QWidget* RolloutsPage::make_footer() {
  auto* card = new widgets::Card({}, this);
  divergence_ = new QLabel(card);
  divergence_->setTextFormat(Qt::PlainText);
  legend_ = new QLabel(card);
  widgets::set_kind(*legend_, "caption");
  legend_->setWordWrap(true);  // in a narrow window
  legend_->setMinimumWidth(kLegendWidth);
  color_ = new QComboBox(card);
  color_->addItem(tr("log-probability"), "logprob");
  color_->addItem(tr("entropy"), "entropy");
  color_->setAccessibleName(tr("What colours the tokens"));
  color_->setToolTip(tr("What colours the tokens"));
  rebuild_menu_ = new QMenu(card);
  connect(rebuild_menu_, &QMenu::aboutToShow, this, &RolloutsPage::fill_rebuild_menu);
  rebuild_ = new QPushButton(tr("Cache…"), card);
  rebuild_->setMenu(rebuild_menu_);
  rebuild_->setAccessibleName(tr("Rebuild the cache of a finished rollout"));
  rebuild_->setToolTip(tr("How many parallel passes over a finished rollout rebuild its cache"));
  auto* row = new QHBoxLayout;
  row->setSpacing(kGap);
  row->addWidget(divergence_);
  row->addWidget(color_);
  row->addWidget(legend_, 1);
  row->addWidget(rebuild_);
  row->addWidget(make_button(copy_, card, "", tr("Copy")));
  row->addWidget(make_button(save_, card, "", tr("Save…")));
  card->body()->addLayout(row);
  set_token_color("logprob");
  connect(color_, &QComboBox::currentIndexChanged, this, [this] {
    set_token_color(color_->currentData().toString().toStdString());
    emit token_color_changed(color_->currentData().toString());
  });
  return card;
}

void RolloutsPage::set_form(const RolloutForm& form) { controls_->set_form(form); }
RolloutForm RolloutsPage::form() const { return controls_->form(); }
void RolloutsPage::focus_prompt() { controls_->focus_prompt(); }
bool RolloutsPage::busy() const { return state_ == State::decoding || state_ == State::loading; }

void RolloutsPage::set_token_color(const std::string& name) {
  const QSignalBlocker quiet(color_);
  color_->setCurrentIndex(name == "entropy" ? 1 : 0);
  const auto color = name == "entropy" ? widgets::TokenColor::entropy : widgets::TokenColor::log_probability;
  for (RolloutColumn* column : columns_) column->set_color_by(color);
  legend_->setText(columns_.front()->strip()->color_legend());
}

std::string RolloutsPage::token_color() const { return color_->currentData().toString().toStdString(); }

QString RolloutsPage::activity() const {
  if (state_ == State::loading) return tr("Loading the model");
  return state_ == State::decoding ? tr("Decoding") : QString();
}

void RolloutsPage::load(const std::string& key, bool again) {
  if (key == wanted_key_ && !again) return;
  wanted_key_ = key;
  if (key.empty()) return;
  worker_.load([open = open_, key] { return open(key); });
  timer_.start();
  poll();
}

void RolloutsPage::run_or_cancel() {
  if (state_ == State::decoding) {
    worker_.cancel();
  } else {
    run();
  }
}

void RolloutsPage::run() {
  if (wanted_key_.empty() || (model_.key.empty() && state_ == State::empty)) {
    show_error(tr("There is no model yet: train a run, or open one, then press Run."));
    return;
  }
  banner_->dismiss();
  const auto requests = to_requests(form());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    columns_[i]->begin(requests[i]);
    columns_[i]->set_divergence(std::nullopt);
  }
  if (wanted_key_ == live_key_) worker_.load([open = open_, key = wanted_key_] { return open(key); });
  ticket_ = worker_.run(requests);
  timer_.start();
  poll();
}

void RolloutsPage::run_example() {
  if (form().prompt.empty() && !model_.examples.empty()) {
    RolloutForm filled = form();
    filled.prompt = model_.examples.front().prompt;
    controls_->set_form(filled);
  }
  run_when_ready_ = model_.key.empty();
  if (!run_when_ready_) run();
}

void RolloutsPage::poll() {
  const WorkerSnapshot snapshot = worker_.poll();
  if (snapshot.reloaded) model_arrived(snapshot);
  for (const RolloutEvent& event : snapshot.events) {
    if (event.ticket == ticket_) take(event);
  }
  if (snapshot.state == State::ready || snapshot.state == State::empty) timer_.stop();
  const bool other_state = snapshot.state != state_;
  state_ = snapshot.state;
  if (other_state || !snapshot.events.empty()) show_state();
  if (!other_state) return;
  emit busy_changed();
  if (state_ == State::ready && run_when_ready_) run_example();
}

void RolloutsPage::model_arrived(const WorkerSnapshot& snapshot) {
  model_ = snapshot.model;
  controls_->set_examples(model_.examples);
  for (RolloutColumn* column : columns_) column->strip()->set_special_names(model_.special_names);
  if (!snapshot.problem.empty()) show_error(QString::fromStdString(snapshot.problem));
  emit model_changed();
}

void RolloutsPage::take(const RolloutEvent& event) {
  RolloutColumn* column = columns_[static_cast<std::size_t>(event.mode)];
  switch (event.kind) {
    case RolloutEvent::Kind::started:
      column->set_prompt(event.prompt);
      break;
    case RolloutEvent::Kind::token:
      column->add_token(event.token);
      break;
    case RolloutEvent::Kind::finished:
      column->finish(event.rollout, event.verdict);
      show_divergence();
      break;
    case RolloutEvent::Kind::failed:
      column->fail(QString::fromStdString(event.message));
      show_error(QString::fromStdString(event.message));
      break;
  }
}

void RolloutsPage::show_divergence() {
  std::vector<const engine::Rollout*> done;
  for (const RolloutColumn* column : columns_) {
    if (column->rollout()) done.push_back(&*column->rollout());
  }
  const auto place = first_divergence(done);
  for (RolloutColumn* column : columns_) column->set_divergence(place);
  QString text = tr("No rollouts to compare yet");
  if (done.size() >= 2) text = tr("All %1 agree token for token").arg(done.size());
  if (place) text = tr("First divergence at token %1").arg(*place + 1);
  // A greedy rollout draws nothing, so it has no seed to name; the three modes share theirs.
  const bool sampled = !done.empty() && done.front()->request.sampler.temperature > 0;
  if (sampled) text += tr(" · seed %1").arg(done.front()->request.sampler.seed);
  divergence_->setText(text);
}

void RolloutsPage::show_state() {
  const bool decoding = state_ == State::decoding;
  run_->setText(decoding ? tr("Cancel the rollouts") : tr("Run the rollouts"));
  run_->setIconText(decoding ? tr("Cancel") : tr("Run"));
  QString caption = tr("no model: train a run, or open one");
  if (state_ == State::loading) caption = tr("loading the model");
  if (!model_.key.empty() && state_ != State::loading) {
    caption = tr("%1 · step %2 · %3 parameters")
                  .arg(QString::fromStdString(model_.name))
                  .arg(model_.step)
                  .arg(widgets::count_text(model_.parameters));
  }
  prompt_card_->set_caption(caption);
  const bool any = !finished().empty();
  copy_->setEnabled(any && !decoding);
  save_->setEnabled(any && !decoding);
  rebuild_->setEnabled(any && !decoding);
  show_divergence();
}

std::vector<engine::Rollout> RolloutsPage::finished() const {
  std::vector<engine::Rollout> all;
  for (const RolloutColumn* column : columns_) {
    if (column->rollout()) all.push_back(*column->rollout());
  }
  return all;
}

std::vector<const widgets::FigureSource*> RolloutsPage::figures() const {
  std::vector<const widgets::FigureSource*> all;
  for (const RolloutColumn* column : columns_) all.push_back(column->strip());
  return all;
}

void RolloutsPage::show_error(const QString& sentence) { banner_->show_message(widgets::Severity::error, sentence); }

void RolloutsPage::fill_rebuild_menu() {
  rebuild_menu_->clear();
  for (const RolloutColumn* column : columns_) {
    if (!column->rollout() || column->rollout()->tokens.empty()) continue;
    rebuild_menu_->addAction(tr("Tokens of %1").arg(widgets::mode_name(column->mode())),
                             [this, column] { emit rebuild_wanted(*column->rollout()); });
  }
}

void RolloutsPage::copy_rollouts() {
  const std::string text = engine::dump_json(rollouts_json(model_, finished()), 2);
  QApplication::clipboard()->setText(QString::fromStdString(text));
}

void RolloutsPage::save_rollouts() {
  const QString file = QFileDialog::getSaveFileName(this, tr("Save the rollouts"), "rollouts.json",
                                                    tr("JSON (*.json);;CSV, a line a token (*.csv)"));
  if (file.isEmpty()) return;
  try {
    const std::string text = file.endsWith(".csv") ? rollouts_csv(model_, finished())
                                                   : engine::dump_json(rollouts_json(model_, finished()), 2) + "\n";
    widgets::write_file(file, QByteArray::fromStdString(text));
  } catch (const std::exception& error) {
    show_error(QString::fromUtf8(error.what()));
  }
}

}  // namespace app
