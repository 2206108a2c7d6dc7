#include "app/batch_page.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QSpinBox>
#include <QVBoxLayout>
#include <exception>
#include <limits>
#include <memory>
#include <utility>

#include "app/action_button.h"
#include "app/batch_series.h"
#include "app/card_grid.h"
#include "widgets/card.h"
#include "widgets/palette.h"
#include "widgets/plot.h"

namespace app {

namespace {

using engine::DecodeMode;

constexpr int kMostRows = 100'000;
constexpr int kMostSamples = 1000;
constexpr int kMostTokens = 100'000;
constexpr int kMostFusedPasses = 64;
constexpr DecodeMode kModes[] = {DecodeMode::standard, DecodeMode::soft, DecodeMode::fused};
constexpr const char* kOtherFile = "?file";

}  // namespace

BatchPage::BatchPage(AnalysisWorker::Opener open, QWidget* parent)
    : AnalysisPage(std::move(open),
                   {"batch", tr("Batch of rollouts"), tr("Measure the batch"), tr("Cancel the batch"),
                    QKeySequence(Qt::CTRL | Qt::ALT | Qt::Key_5)},
                   parent),
      save_(make_action(this, tr("Save the batch's answers as JSON Lines…"), Qt::CTRL | Qt::ALT | Qt::Key_A,
                        [this] { save_answers(); })) {
  add_controls();
  build();
  show_empty(empty_text());
  save_->setEnabled(false);
  connect(&strip(), &AnalysisStrip::finished, this, [this] {
    if (!result_) show_empty(empty_text());  // cancelled, or a problem that the banner tells
  });
}

void BatchPage::add_controls() {
  source_ = make_choice(this, tr("Prompts of a task, or of a file"));
  source_->addItem(tr("the run's task"), QString());
  for (const std::string& name : engine::data::task_names()) {
    source_->addItem(QString::fromStdString(name), QString::fromStdString(name));
  }
  source_->addItem(tr("JSON Lines file…"), QString(kOtherFile));
  connect(source_, &QComboBox::activated, this, &BatchPage::source_chosen);
  rows_ = make_count(this, tr("Prompts"), tr("prompts "), 1, kMostRows, 256);
  samples_ = make_count(this, tr("Answers to each prompt, for pass@k"), tr("answers "), 1, kMostSamples, 1);
  max_tokens_ = make_count(this, tr("Most tokens of an answer"), tr("max "), 1, kMostTokens, 64);
  temperature_ = make_number(this, tr("Temperature; 0 takes the most likely token"), tr("temp. "), 0, 10, 0);
  temperature_->setSpecialValueText(tr("greedy"));
  seed_ =
      make_count(this, tr("Seed of prompts and random numbers"), tr("seed "), 0, std::numeric_limits<int>::max(), 1);
  seed_->setMaximumWidth(110);
  fused_passes_ =
      make_count(this, tr("Feedback passes over the prompt in Fused"), tr("fused passes "), 1, kMostFusedPasses, 1);
  for (QWidget* control : std::initializer_list<QWidget*>{source_, rows_, samples_}) strip().add_control(control);
  add_modes();
  add_controls_line({max_tokens_, temperature_, seed_, fused_passes_, modes_[0], modes_[1], modes_[2]});
  remember_controls();
}

void BatchPage::add_modes() {
  for (std::size_t i = 0; i < modes_.size(); ++i) {
    modes_[i] = new QCheckBox(widgets::mode_name(kModes[i]), this);
    modes_[i]->setChecked(true);
    modes_[i]->setAccessibleName(tr("Measure %1").arg(widgets::mode_name(kModes[i])));
  }
}

void BatchPage::remember_controls() {
  settings().add(
      "source", [this] { return nlohmann::json(source_->currentData().toString().toStdString()); },
      [this](const nlohmann::json& value) {
        const QString source = QString::fromStdString(value.get<std::string>());
        const int index = source_->findData(source);
        if (index >= 0 && source != kOtherFile) return source_->setCurrentIndex(chosen_source_ = index);
        if (QFileInfo(source).isFile()) set_file(source);
      });
  connect(source_, &QComboBox::currentIndexChanged, &settings(), &FormMemory::changed);
  settings().add("rows", rows_);
  settings().add("samples", samples_);
  settings().add("max_tokens", max_tokens_);
  settings().add("temperature", temperature_);
  settings().add("seed", seed_);
  settings().add("fused_passes", fused_passes_);
  for (std::size_t i = 0; i < modes_.size(); ++i) settings().add(to_string(kModes[i]), modes_[i]);
}

widgets::Plot* BatchPage::add_plot(const QString& title, const QString& x_title, const QString& y_title) {
  auto* plot = new widgets::Plot(this);
  plot->set_title(title);
  plot->setAccessibleName(title);
  plot->set_axes(x_title, y_title);
  plots_.push_back(plot);
  return plot;
}

void BatchPage::build() {
  table_ = new widgets::NumberTable(this);
  table_->set_title(tr("Answers by mode"));
  pairs_ = new widgets::NumberTable(this);
  pairs_->set_title(tr("Modes in pairs, prompt by prompt"));
  lengths_ = add_plot(tr("Length of answers"), tr("tokens"), tr("answers (%)"));
  caps_ = add_plot(tr("Accuracy at the same cap"), tr("most tokens allowed"), tr("right (%)"));
  passes_ = add_plot(tr("pass@k"), tr("answers k"), tr("prompts solved (%)"));
  widgets::PlotView log_x;
  log_x.log_x = true;
  for (widgets::Plot* plot : {caps_, passes_}) {
    plot->set_view(log_x);
    plot->set_y_limits(widgets::Range{0, 102});
  }
  lengths_->set_y_limits(widgets::Range{0, 1});
  reading_ = make_reading_card(this);
  auto* grid = new CardGrid(this);
  grid->add(card_with(table_, grid));
  grid->add(card_with(lengths_, grid));
  grid->add(reading_.card);
  grid->add(card_with(pairs_, grid));
  grid->add(card_with(caps_, grid));
  grid->add(card_with(passes_, grid));
  content()->addWidget(grid, 1);
}

void BatchPage::source_chosen() {
  if (source_->currentData().toString() == kOtherFile) {
    source_->setCurrentIndex(chosen_source_);
    const QString file =
        QFileDialog::getOpenFileName(this, tr("Prompts and answers"), {}, tr("JSON Lines (*.jsonl *.json)"));
    if (file.isEmpty()) return;
    set_file(file);
  }
  chosen_source_ = source_->currentIndex();
  if (!runs().empty()) measure();
}

void BatchPage::set_file(const QString& file) {
  int index = source_->findData(file);
  if (index < 0) {
    index = source_->count() - 1;  // before the item that asks for another
    source_->insertItem(index, QFileInfo(file).fileName(), file);
    source_->setItemData(index, file, Qt::ToolTipRole);
  }
  source_->setCurrentIndex(chosen_source_ = index);
}

BatchRequest BatchPage::request() const {
  BatchRequest request;
  request.source = source_->currentData().toString().toStdString();
  request.rows = rows_->value();
  request.modes.clear();
  for (std::size_t i = 0; i < modes_.size(); ++i) {
    if (modes_[i]->isChecked()) request.modes.push_back(kModes[i]);
  }
  request.settings.samples = samples_->value();
  request.settings.max_tokens = max_tokens_->value();
  request.settings.sampler.temperature = static_cast<float>(temperature_->value());
  request.settings.sampler.seed = static_cast<std::uint64_t>(seed_->value());
  request.settings.fused_prefill_passes = fused_passes_->value();
  return request;
}

void BatchPage::measure() {
  const BatchRequest wanted = request();
  if (wanted.modes.empty())
    return show_error(tr("No mode is chosen: check Standard, Soft or Fused, then press Measure."));
  start({{runs().front().key, [this, wanted](AnalysisModel& model, const AnalysisControl& control) {
            auto result = std::make_shared<BatchResult>(measure_batch(model, wanted, control));
            return [this, result] { take(std::move(*result)); };
          }}});
  if (!result_) show_empty(strip().busy() ? tr("measuring…") : empty_text());  // it may have failed at once
}

void BatchPage::take(BatchResult result) {
  result_ = std::move(result);
  const BatchResult& now = *result_;
  table_->set_data(mode_columns(now), mode_rows(now));
  pairs_->set_data(pair_columns(), pair_rows(now));
  pairs_->set_empty_text(tr("pairs need two modes or more: check another one, then press Measure"));
  lengths_->set_series(length_series(now));
  caps_->set_series(cap_series(now));
  passes_->set_series(pass_series(now));
  passes_->set_empty_text(tr("one answer to each prompt: raise the answers and the temperature"));
  for (widgets::Plot* plot : plots_) plot->follow();
  reading_.text->setText(batch_reading(now));
  reading_.stats->set_rows(batch_stats(now));
  save_->setEnabled(true);
  set_metadata(batch_metadata(now));
}

void BatchPage::clear() {
  result_.reset();
  for (widgets::Plot* plot : plots_) plot->set_series({});
  table_->set_data({}, {});
  pairs_->set_data({}, {});
  reading_.stats->set_rows({});
  save_->setEnabled(false);
  show_empty(empty_text());
}

void BatchPage::show_empty(const QString& text) {
  for (widgets::Plot* plot : plots_) plot->set_empty_text(text);
  table_->set_empty_text(text);
  pairs_->set_empty_text(text);
  reading_.text->setText(
      tr("Every mode answers the same held-out prompts with the same random numbers, so that a difference between "
         "modes is the model's."));
}

void BatchPage::save_answers() {
  if (!result_) return;
  const QString file =
      QFileDialog::getSaveFileName(this, tr("Save the answers"), "answers.jsonl", tr("JSON Lines (*.jsonl)"));
  if (file.isEmpty()) return;
  try {
    widgets::write_file(file, QByteArray::fromStdString(result_->answers));
  } catch (const std::exception& error) {
    show_error(QString::fromUtf8(error.what()));
  }
}

std::vector<const widgets::FigureSource*> BatchPage::figures() const {
  return {table_, lengths_, pairs_, caps_, passes_};
}

}  // namespace app
