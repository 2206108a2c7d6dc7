#include "app/rollout_controls.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>
#include <limits>

#include "app/action_button.h"
#include "app/rollout_report.h"
#include "widgets/palette.h"
#include "widgets/style.h"

namespace app {

namespace {

constexpr int kMaxTokens = 100'000;
constexpr int kPromptHeight = 104;  // as high as the three rows of settings beside it

QSpinBox* make_count(QWidget* parent, const QString& name, const QString& prefix, int least, int most) {
  auto* box = new QSpinBox(parent);
  box->setPrefix(prefix);
  box->setRange(least, most);
  box->setAccessibleName(name);
  box->setToolTip(name);
  box->setLocale(QLocale::c());
  box->setGroupSeparatorShown(false);
  return box;
}

QDoubleSpinBox* make_number(QWidget* parent, const QString& name, double least, double most) {
  auto* box = new QDoubleSpinBox(parent);
  box->setPrefix(name + " ");
  box->setRange(least, most);
  box->setSingleStep(0.05);
  box->setAccessibleName(name);
  box->setToolTip(name);
  box->setLocale(QLocale::c());
  return box;
}

/// One line for a menu, whatever the prompt holds.
QString one_line(const QString& text) {
  const QString flat = QString(text).replace('\n', QChar(0x21B5));
  return flat.size() > 64 ? flat.left(63) + QChar(0x2026) : flat;
}

}  // namespace

RolloutControls::RolloutControls(QAction* run, QWidget* parent)
    : QWidget(parent),
      prompt_(new QPlainTextEdit(this)),
      sampler_(new QComboBox(this)),
      max_tokens_(make_count(this, tr("Most tokens to generate"), tr("max "), 1, kMaxTokens)),
      seed_(make_count(this, tr("Seed of the sampler"), tr("seed "), 0, std::numeric_limits<int>::max())),
      temperature_(make_number(this, tr("temperature"), 0.01, 10)),
      top_k_(make_count(this, tr("Tokens that may be drawn (top-k)"), tr("top-k "), 0, kMaxTokens)),
      top_p_(make_number(this, tr("top-p"), 0.01, 1)),
      fused_passes_(make_count(this, tr("Feedback passes over the prompt in Fused"), tr("fused passes "), 1, 64)),
      stop_strings_(new QLineEdit(this)),
      examples_(new QPushButton(tr("Examples"), this)),
      examples_menu_(new QMenu(this)) {
  widgets::set_kind(*prompt_, "mono");
  prompt_->setFont(widgets::mono_font());
  prompt_->setAccessibleName(tr("Prompt"));
  prompt_->setPlaceholderText(tr("Type a prompt, or take one of the examples"));
  prompt_->setTabChangesFocus(true);
  prompt_->setFixedHeight(kPromptHeight);

  auto* first = new QHBoxLayout;
  first->setSpacing(8);
  for (QWidget* widget : std::initializer_list<QWidget*>{sampler_, max_tokens_, seed_}) first->addWidget(widget);
  first->addWidget(make_button(run, this, "primary"));
  auto* second = new QHBoxLayout;
  second->setSpacing(8);
  for (QWidget* widget : std::initializer_list<QWidget*>{temperature_, top_k_, top_p_}) second->addWidget(widget);
  auto* third = new QHBoxLayout;
  third->setSpacing(8);
  third->addWidget(fused_passes_);
  third->addWidget(stop_strings_, 1);
  third->addWidget(examples_);
  auto* right = new QVBoxLayout;
  right->setSpacing(6);
  right->addLayout(first);
  right->addLayout(second);
  right->addLayout(third);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(12);
  layout->addWidget(prompt_, 1);
  layout->addLayout(right);

  add_sampler();
  enable_sampler();
}

void RolloutControls::add_sampler() {
  sampler_->addItems({tr("greedy"), tr("sample")});
  sampler_->setAccessibleName(tr("Sampler"));
  sampler_->setToolTip(tr("Greedy takes the most likely token, the lowest id on a tie"));
  top_k_->setSpecialValueText(tr("top-k off"));
  stop_strings_->setPlaceholderText(tr("stop string"));
  stop_strings_->setAccessibleName(tr("Stop string"));
  stop_strings_->setToolTip(tr("Decoding ends where this text appears; \\n is a line break"));
  stop_strings_->setMinimumWidth(110);
  examples_->setMenu(examples_menu_);
  examples_->setAccessibleName(tr("Example prompts of this run's tasks"));
  examples_->setToolTip(tr("Example prompts of this run's tasks"));
  set_examples({});

  connect(prompt_, &QPlainTextEdit::textChanged, this, &RolloutControls::changed);
  connect(stop_strings_, &QLineEdit::textChanged, this, &RolloutControls::changed);
  connect(sampler_, &QComboBox::currentIndexChanged, this, [this] {
    enable_sampler();
    emit changed();
  });
  for (QSpinBox* box : {max_tokens_, seed_, top_k_, fused_passes_}) {
    connect(box, &QSpinBox::valueChanged, this, &RolloutControls::changed);
  }
  for (QDoubleSpinBox* box : {temperature_, top_p_}) {
    connect(box, &QDoubleSpinBox::valueChanged, this, &RolloutControls::changed);
  }
}

void RolloutControls::enable_sampler() {
  const bool sampling = sampler_->currentIndex() == 1;
  for (QWidget* widget : std::initializer_list<QWidget*>{seed_, temperature_, top_k_, top_p_}) {
    widget->setEnabled(sampling);
  }
}

void RolloutControls::set_form(const RolloutForm& form) {
  const QSignalBlocker quiet(this);
  prompt_->setPlainText(QString::fromStdString(form.prompt));
  stop_strings_->setText(QString::fromStdString(form.stop_strings));
  sampler_->setCurrentIndex(form.greedy ? 0 : 1);
  temperature_->setValue(form.temperature);
  top_k_->setValue(static_cast<int>(form.top_k));
  top_p_->setValue(form.top_p);
  max_tokens_->setValue(static_cast<int>(form.max_tokens));
  seed_->setValue(static_cast<int>(std::min<std::uint64_t>(form.seed, std::numeric_limits<int>::max())));
  fused_passes_->setValue(form.fused_passes);
}

RolloutForm RolloutControls::form() const {
  RolloutForm form;
  form.prompt = prompt_->toPlainText().toStdString();
  form.stop_strings = stop_strings_->text().toStdString();
  form.greedy = sampler_->currentIndex() == 0;
  form.temperature = temperature_->value();
  form.top_k = top_k_->value();
  form.top_p = top_p_->value();
  form.max_tokens = max_tokens_->value();
  form.seed = static_cast<std::uint64_t>(seed_->value());
  form.fused_passes = fused_passes_->value();
  return form;
}

void RolloutControls::set_examples(const std::vector<ExamplePrompt>& examples) {
  examples_menu_->clear();
  examples_->setEnabled(!examples.empty());
  for (const ExamplePrompt& example : examples) {
    const QString prompt = QString::fromStdString(example.prompt);
    examples_menu_->addAction(QString::fromStdString(example.task) + ":  " + one_line(prompt),
                              [this, prompt] { prompt_->setPlainText(prompt); });
  }
}

void RolloutControls::focus_prompt() { prompt_->setFocus(); }

std::vector<engine::RolloutRequest> to_requests(const RolloutForm& form) {
  engine::RolloutRequest request;
  request.prompt = form.prompt;
  request.max_tokens = form.max_tokens;
  request.stop_strings = parse_stop_strings(form.stop_strings);
  request.fused_prefill_passes = form.fused_passes;
  request.sampler.seed = form.seed;
  if (!form.greedy) {
    request.sampler.temperature = static_cast<float>(form.temperature);
    request.sampler.top_k = form.top_k;
    request.sampler.top_p = static_cast<float>(form.top_p);
  }
  std::vector<engine::RolloutRequest> requests;
  for (const auto mode : {engine::DecodeMode::standard, engine::DecodeMode::soft, engine::DecodeMode::fused}) {
    request.mode = mode;
    requests.push_back(request);
  }
  return requests;
}

}  // namespace app
