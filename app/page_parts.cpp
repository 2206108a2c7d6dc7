#include "app/page_parts.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLocale>
#include <QScrollArea>
#include <QVBoxLayout>

#include "widgets/card.h"
#include "widgets/stat_table.h"

namespace app {

namespace {

constexpr int kMostBoxWidth = 140;  // a box that may hold nine digits is still short

void set_up_box(QAbstractSpinBox& box, const QString& name) {
  box.setAccessibleName(name);
  box.setToolTip(name);
  box.setLocale(QLocale::c());
  box.setGroupSeparatorShown(false);
  box.setMaximumWidth(kMostBoxWidth);
}

}  // namespace

QSpinBox* make_count(QWidget* parent, const QString& name, const QString& prefix, int least, int most, int value) {
  auto* box = new QSpinBox(parent);
  box->setPrefix(prefix);
  box->setRange(least, most);
  box->setValue(value);
  set_up_box(*box, name);
  return box;
}

QDoubleSpinBox* make_number(QWidget* parent, const QString& name, const QString& prefix, double least, double most,
                            double value) {
  auto* box = new QDoubleSpinBox(parent);
  box->setPrefix(prefix);
  box->setRange(least, most);
  box->setSingleStep(0.1);
  box->setValue(value);
  set_up_box(*box, name);
  return box;
}

QComboBox* make_choice(QWidget* parent, const QString& name) {
  auto* box = new QComboBox(parent);
  box->setAccessibleName(name);
  box->setToolTip(name);
  return box;
}

std::optional<std::set<int>> whole_numbers(const QString& text, int most) {
  std::set<int> numbers;
  for (const QString& part : text.split(',', Qt::SkipEmptyParts)) {
    if (part.trimmed().isEmpty()) continue;
    bool number = false;
    const int value = part.trimmed().toInt(&number);
    if (!number || value < 0 || value > most) return std::nullopt;
    numbers.insert(value);
  }
  return numbers;
}

widgets::Card* card_with(QWidget* content, QWidget* parent) {
  auto* card = new widgets::Card({}, parent);
  content->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Ignored);
  card->body()->addWidget(content, 1);
  return card;
}

QScrollArea* scroll_area(QWidget* content, QWidget* parent) {
  auto* area = new QScrollArea(parent);
  area->setWidget(content);
  area->setWidgetResizable(true);
  area->setFrameShape(QFrame::NoFrame);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  area->setFocusPolicy(Qt::NoFocus);
  return area;
}

ReadingCard make_reading_card(QWidget* parent) {
  ReadingCard made;
  made.card = new widgets::Card(QObject::tr("What you see"), parent);
  made.card->set_heading_style();
  made.text = new QLabel(made.card);
  made.text->setTextFormat(Qt::PlainText);
  made.text->setWordWrap(true);
  made.text->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  made.stats = new widgets::StatTable(made.card);
  made.stats->setAccessibleName(QObject::tr("What was measured"));
  made.card->body()->addWidget(made.text);
  made.card->body()->addWidget(made.stats);
  made.card->body()->addStretch(1);
  return made;
}

}  // namespace app
