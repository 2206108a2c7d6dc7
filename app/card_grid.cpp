#include "app/card_grid.h"

#include <QGridLayout>
#include <QResizeEvent>
#include <QScrollArea>
#include <QVBoxLayout>

#include "app/page_parts.h"

namespace app {

namespace {

constexpr int kThreeColumns = 1000;  // px from which three cards stand in a row
constexpr int kMostColumns = 3;
constexpr int kLeastCard = 220;

}  // namespace

CardGrid::CardGrid(QWidget* parent) : QWidget(parent), page_(new QWidget(this)), grid_(new QGridLayout(page_)) {
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setSpacing(kCardGap);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(scroll_area(page_, this));
}

void CardGrid::add(QWidget* card) {
  card->setMinimumHeight(kLeastCard);
  card->setMinimumWidth(0);
  cards_.push_back(card);
  arrange(columns_ > 0 ? columns_ : kMostColumns);
}

void CardGrid::arrange(int columns) {
  columns_ = columns;
  for (QWidget* card : cards_) grid_->removeWidget(card);
  for (int column = 0; column < kMostColumns; ++column) grid_->setColumnStretch(column, column < columns ? 1 : 0);
  const int count = static_cast<int>(cards_.size());
  for (int i = 0; i < count; ++i) grid_->addWidget(cards_[static_cast<std::size_t>(i)], i / columns, i % columns);
  for (int row = 0; row < count; ++row) grid_->setRowStretch(row, row * columns < count ? 1 : 0);
}

void CardGrid::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  const int columns = event->size().width() >= kThreeColumns ? kMostColumns : 2;
  if (columns != columns_) arrange(columns);
}

}  // namespace app
