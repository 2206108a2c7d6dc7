#include "app/page_switch.h"

#include <QHBoxLayout>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "app/action_button.h"
#include "app/page_parts.h"

namespace app {

PageSwitch::PageSwitch(QWidget* parent) : QWidget(parent), buttons_(new QHBoxLayout), stack_(new QStackedWidget(this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(kCardGap);
  buttons_->setSpacing(4);
  buttons_->addStretch(1);
  layout->addLayout(buttons_);
  layout->addWidget(stack_, 1);
}

void PageSwitch::add(const std::string& id, QAction* action, QWidget* part, const QString& text) {
  buttons_->insertWidget(static_cast<int>(parts_.size()), make_button(action, this, "page", text));
  stack_->addWidget(part);
  parts_.push_back({id, action});
  parts_.front().action->setChecked(true);
}

void PageSwitch::show_part(const std::string& id) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    parts_[i].action->setChecked(parts_[i].id == id);
    if (parts_[i].id == id) stack_->setCurrentIndex(static_cast<int>(i));
  }
}

bool PageSwitch::has(const std::string& id) const {
  return std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) { return part.id == id; });
}

const std::string& PageSwitch::part() const { return parts_.at(static_cast<std::size_t>(stack_->currentIndex())).id; }

}  // namespace app
