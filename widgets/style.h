// Dresses the whole application in a theme: palette, style sheet, faces; follows the system or is forced.
#pragma once

#include <QObject>
#include <QString>

#include "widgets/palette.h"

class QApplication;
class QWidget;

namespace widgets {

enum class ThemeChoice { automatic, light, dark };

/// Dynamic properties and object names that the style sheet knows:
///   QPushButton / QToolButton  kind = "primary" (filled, one a page) | "page" (in the bar, checkable) | "link"
///   QLabel                     kind = "title" | "heading" | "caption" | "error" | "warning" | "mono"
///   QFrame                     kind = "card" | "bar" | "side" | "status" | "rule"
QString style_sheet(const Theme& theme);

/// Sets a property the style sheet selects by, and has the widget drawn anew.
void set_kind(QWidget& widget, const char* kind);

/// Owns the application's look. One object, made after the QApplication and before any window.
class ThemeController : public QObject {
  Q_OBJECT

 public:
  explicit ThemeController(QApplication& application);
  void set_choice(ThemeChoice choice);
  [[nodiscard]] ThemeChoice choice() const { return choice_; }
  [[nodiscard]] const Theme& theme() const;

 signals:
  void changed();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void apply();
  [[nodiscard]] bool system_is_dark() const;

  QApplication& application_;
  ThemeChoice choice_ = ThemeChoice::automatic;
  bool dark_ = false;
  bool applying_ = false;
};

}  // namespace widgets
