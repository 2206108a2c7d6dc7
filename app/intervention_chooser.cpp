#include "app/intervention_chooser.h"

#include <QAction>
#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QMenu>
#include <QPushButton>
#include <algorithm>

#include "app/form_memory.h"
#include "app/page_parts.h"

namespace app {

namespace {

using engine::Intervention;

struct Kind {
  Intervention kind;
  const char* text;
  bool at_first;  ///< measured before the user chooses
};

constexpr Kind kKinds[] = {
    {Intervention::shuffled_state, QT_TRANSLATE_NOOP("InterventionChooser", "Shuffled state"), true},
    {Intervention::constant_gate, QT_TRANSLATE_NOOP("InterventionChooser", "Constant gate"), true},
    {Intervention::gate_temperature, QT_TRANSLATE_NOOP("InterventionChooser", "Gate temperature"), false},
    {Intervention::seed_scale, QT_TRANSLATE_NOOP("InterventionChooser", "Scale of the input"), false},
    {Intervention::zero_state, QT_TRANSLATE_NOOP("InterventionChooser", "Zero state (out of distribution)"), false},
};

}  // namespace

InterventionChooser::InterventionChooser(QWidget* parent)
    : QWidget(parent),
      temperature_(make_number(this, tr("Gate temperature"), tr("temp. "), 0.05, 20, 2)),
      scale_(make_number(this, tr("Scale of what enters the stack"), QStringLiteral("× "), 0, 20, 2)) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(8);
  auto* button = new QPushButton(tr("Changes…"), this);
  button->setToolTip(tr("What is changed in the last feedback pass"));
  button->setMenu(new QMenu(button));
  row->addWidget(button);
  row->addStretch(1);
  row->addWidget(temperature_);
  row->addWidget(scale_);
  add_kinds();
  for (QAction* action : kinds_) button->menu()->addAction(action);
  for (QDoubleSpinBox* box : {temperature_, scale_}) {
    box->setKeyboardTracking(false);  // half a number is no strength
    connect(box, &QDoubleSpinBox::valueChanged, this, &InterventionChooser::chosen);
  }
}

void InterventionChooser::add_kinds() {
  for (const Kind& kind : kKinds) {
    auto* action = new QAction(tr(kind.text), this);
    action->setCheckable(true);
    action->setChecked(kind.at_first);
    connect(action, &QAction::triggered, this, [this, action] { kind_toggled(action); });
    kinds_.push_back(action);
  }
  temperature_->setEnabled(false);
  scale_->setEnabled(false);
  connect(kinds_[2], &QAction::toggled, temperature_, &QWidget::setEnabled);
  connect(kinds_[3], &QAction::toggled, scale_, &QWidget::setEnabled);
}

void InterventionChooser::kind_toggled(QAction* action) {
  const bool any = std::any_of(kinds_.begin(), kinds_.end(), [](const QAction* kind) { return kind->isChecked(); });
  if (!any) return action->setChecked(true);
  emit chosen();
}

double InterventionChooser::amount_of(Intervention kind) const {
  if (kind == Intervention::gate_temperature) return temperature_->value();
  if (kind == Intervention::seed_scale) return scale_->value();
  return kind == Intervention::zero_state ? 0 : 1;
}

std::vector<engine::InterventionChoice> InterventionChooser::choices() const {
  std::vector<engine::InterventionChoice> chosen_kinds;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if (kinds_[i]->isChecked()) chosen_kinds.push_back({kKinds[i].kind, amount_of(kKinds[i].kind)});
  }
  return chosen_kinds;
}

void InterventionChooser::remember(FormMemory& settings) {
  settings.add("gate_temperature", temperature_);
  settings.add("input_scale", scale_);
  settings.add(
      "changes",
      [this] {
        nlohmann::json names = nlohmann::json::array();
        for (const auto& choice : choices()) names.push_back(to_string(choice.kind));
        return names;
      },
      [this](const nlohmann::json& names) {
        const auto wanted = names.get<std::vector<std::string>>();
        for (std::size_t i = 0; i < kinds_.size(); ++i) {
          const std::string name = to_string(kKinds[i].kind);
          kinds_[i]->setChecked(std::find(wanted.begin(), wanted.end(), name) != wanted.end());
        }
        if (choices().empty()) kinds_.front()->setChecked(true);
      });
  connect(this, &InterventionChooser::chosen, &settings, &FormMemory::changed);
}

}  // namespace app
