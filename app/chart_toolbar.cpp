#include "app/chart_toolbar.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSlider>
#include <algorithm>
#include <cmath>

#include "app/action_button.h"
#include "widgets/style.h"

namespace app {

namespace {

constexpr int kPlaces = 100;
constexpr double kMost = 0.999;

}  // namespace

// 1 - smoothing falls geometrically from 1 to 0.001, so that 0.9 and 0.99 are not the slider's last pixels.
double smoothing_at(int place) {
  const double value = 1 - std::pow(1 - kMost, static_cast<double>(place) / kPlaces);
  return std::clamp(std::round(1000 * value) / 1000, 0.0, kMost);
}

int place_of(double smoothing) {
  const double value = std::clamp(smoothing, 0.0, kMost);
  return static_cast<int>(std::lround(kPlaces * std::log(1 - value) / std::log(1 - kMost)));
}

ChartToolbar::ChartToolbar(QWidget* parent)
    : QWidget(parent),
      x_(new QComboBox(this)),
      smoothing_(new QSlider(Qt::Horizontal, this)),
      smoothing_text_(new QLabel(this)) {
  for (const XAxis axis : {XAxis::step, XAxis::tokens, XAxis::token_equivalents, XAxis::relative, XAxis::wall}) {
    x_->addItem(QString::fromStdString(title(axis)));
  }
  x_->setAccessibleName(tr("Horizontal axis"));
  x_->setToolTip(tr("Horizontal axis of all charts"));
  smoothing_->setRange(0, kPlaces);
  smoothing_->setMinimumWidth(50);
  smoothing_->setMaximumWidth(140);
  smoothing_->setAccessibleName(tr("Smoothing"));
  smoothing_->setToolTip(tr("Smoothing; the faint line is what was measured"));
  widgets::set_kind(*smoothing_text_, "caption");
  smoothing_text_->setFixedWidth(34);
  log_x_ = make_toggle(this, tr("Logarithmic x axis"), Qt::ALT | Qt::Key_X, [this](bool on) {
    view_.log_x = on;
    emit changed();
  });
  log_y_ = make_toggle(this, tr("Logarithmic y axis"), Qt::ALT | Qt::Key_Y, [this](bool on) {
    view_.log_y = on;
    emit changed();
  });
  outliers_ = make_toggle(this, tr("Leave outliers out of the y range"), Qt::ALT | Qt::Key_O, [this](bool on) {
    view_.clip_outliers = on;
    emit changed();
  });
  next_x_ = make_action(this, tr("Next horizontal axis"), Qt::ALT | Qt::Key_A,
                        [this] { x_->setCurrentIndex((x_->currentIndex() + 1) % x_->count()); });
  follow_ = make_action(this, tr("Follow the newest values"), Qt::CTRL | Qt::Key_L, [this] { emit follow_wanted(); });
  follow_->setIconText(tr("Follow"));

  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(8);
  layout->addWidget(x_);
  layout->addWidget(make_button(log_x_, this, "page", tr("log x")));
  layout->addWidget(make_button(log_y_, this, "page", tr("log y")));
  layout->addWidget(smoothing_);
  layout->addWidget(smoothing_text_);
  layout->addStretch(1);
  layout->addWidget(make_button(follow_, this));
  connect(x_, &QComboBox::currentIndexChanged, this, [this](int index) {
    view_.x = static_cast<XAxis>(index);
    emit changed();
  });
  connect(smoothing_, &QSlider::valueChanged, this, [this](int place) {
    view_.smoothing = smoothing_at(place);
    show_smoothing();
    emit changed();
  });
  set_view(view_);
  set_following(true);
}

void ChartToolbar::show_smoothing() { smoothing_text_->setText(QString::number(view_.smoothing, 'g', 3)); }

void ChartToolbar::set_view(const ChartView& view) {
  const QSignalBlocker quiet(this);
  x_->setCurrentIndex(static_cast<int>(view.x));
  log_x_->setChecked(view.log_x);
  log_y_->setChecked(view.log_y);
  outliers_->setChecked(view.clip_outliers);
  smoothing_->setValue(place_of(view.smoothing));
  view_ = view;  // the slider's place is coarser than the value
  show_smoothing();
}

void ChartToolbar::set_following(bool following) { follow_->setEnabled(!following); }

}  // namespace app
