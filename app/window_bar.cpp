#include "app/window_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

#include "app/action_button.h"
#include "widgets/style.h"

namespace app {

namespace {

constexpr int kHeight = 48;
constexpr int kNameWidth = 248;  // so that the pages begin where the run list ends

}  // namespace

WindowBar::WindowBar(const std::vector<QAction*>& pages, QMenu* export_menu, QMenu* menu, QWidget* parent)
    : QFrame(parent), export_(new QPushButton(tr("Export figure…"), this)), menu_(new QPushButton(this)) {
  widgets::set_kind(*this, "bar");
  setFixedHeight(kHeight);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(16, 0, 16, 0);
  layout->setSpacing(4);
  auto* name = new QLabel("Fullband", this);
  widgets::set_kind(*name, "name");
  name->setFixedWidth(kNameWidth - 16);
  layout->addWidget(name);
  for (QAction* page : pages) layout->addWidget(make_button(page, this, "page"));
  layout->addStretch(1);
  export_->setMenu(export_menu);
  export_->setAccessibleName(tr("Export figure"));
  export_->setToolTip(tr("Export a figure of this page (Ctrl+E)"));
  layout->addWidget(export_);
  layout->addSpacing(4);
  menu_->setText(QString(QChar(0x2630)));
  menu_->setMenu(menu);
  menu_->setAccessibleName(tr("Menu"));
  menu_->setToolTip(tr("Menu (Alt+M)"));
  layout->addWidget(menu_);
}

void WindowBar::open_menu() { menu_->showMenu(); }
void WindowBar::open_export() { export_->showMenu(); }

}  // namespace app
