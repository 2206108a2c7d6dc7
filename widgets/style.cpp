#include "widgets/style.h"

#include <QApplication>
#include <QEvent>
#include <QStyle>
#include <QStyleFactory>
#include <QWidget>

// A static library's resources are not registered by themselves; the macro must stand outside every namespace.
static void register_icons() { Q_INIT_RESOURCE(widgets); }

namespace widgets {
namespace {

// %name% is replaced by the theme's colour of that name.
const char* const kSheet = R"(
QToolTip { background: %card%; color: %text%; border: 1px solid %control%; padding: 4px 6px; font-size: 12px; }

QFrame[kind="card"] { background: %card%; border: 1px solid %border%; border-radius: 8px; }
QFrame[kind="bar"] { background: %card%; border: none; border-bottom: 1px solid %border%; }
QFrame[kind="side"] { background: %card%; border: none; border-right: 1px solid %border%; }
QFrame[kind="status"] { background: %card%; border: none; border-top: 1px solid %border%; }
QFrame[kind="status"] QLabel { color: %secondary%; font-size: 12px; }
QFrame[kind="rule"] { background: %border%; border: none; max-height: 1px; min-height: 1px; }

QLabel { background: transparent; color: %text%; }
QLabel[kind="title"] { font-weight: 600; }
QLabel[kind="name"] { font-size: 15px; font-weight: 700; }
QLabel[kind="heading"] { color: %secondary%; font-size: 11px; font-weight: 600; letter-spacing: 0.5px;
  text-transform: uppercase; }
QLabel[kind="caption"] { color: %secondary%; font-size: 11px; }
QLabel[kind="secondary"] { color: %secondary%; }
QLabel[kind="error"] { color: %error%; font-size: 11px; }
QLabel[kind="warning"] { color: %warning%; font-size: 11px; }
QLabel[kind="mono"] { font-family: "DejaVu Sans Mono", monospace; }
QLabel:disabled { color: %disabled%; }

QPushButton, QToolButton { background: %card%; color: %text%; border: 1px solid %control%; border-radius: 6px;
  padding: 5px 12px; min-height: 18px; }
QToolButton { padding: 4px 8px; }
QPushButton:hover, QToolButton:hover { background: %hover%; }
QPushButton:pressed, QToolButton:pressed, QToolButton:checked { background: %tint%; }
QPushButton:focus, QToolButton:focus { border: 2px solid %accent%; padding: 4px 11px; }
QToolButton:focus { padding: 3px 7px; }
QPushButton:disabled, QToolButton:disabled { color: %disabled%; background: %card%; border-color: %border%; }
QPushButton::menu-indicator { image: none; width: 0px; }
QToolButton::menu-indicator { image: none; width: 0px; }
QPushButton[kind="primary"] { background: %accent%; color: %on_accent%; border-color: %accent%; font-weight: 600; }
QPushButton[kind="primary"]:hover { background: %accent_hover%; border-color: %accent_hover%; }
QPushButton[kind="primary"]:focus { border: 2px solid %text%; }
QPushButton[kind="primary"]:disabled { background: %border%; border-color: %border%; color: %disabled%; }
QPushButton[kind="page"], QToolButton[kind="page"] { background: transparent; border: 2px solid transparent;
  color: %secondary%; padding: 5px 12px; }
QPushButton[kind="page"]:hover, QToolButton[kind="page"]:hover { background: %hover%; }
QPushButton[kind="page"]:checked, QToolButton[kind="page"]:checked { background: %tint%; color: %accent%;
  font-weight: 600; }
QPushButton[kind="page"]:focus, QToolButton[kind="page"]:focus { border: 2px solid %accent%; }
QPushButton[kind="link"], QToolButton[kind="link"] { background: transparent; border: 2px solid transparent;
  color: %accent%; padding: 2px 0; text-align: left; }
QPushButton[kind="link"]:hover, QToolButton[kind="link"]:hover { text-decoration: underline; }
QPushButton[kind="link"]:focus, QToolButton[kind="link"]:focus { border: 2px solid %accent%; }

QLineEdit, QPlainTextEdit, QTextEdit, QSpinBox, QDoubleSpinBox, QComboBox { background: %card%; color: %text%;
  border: 1px solid %control%; border-radius: 5px; padding: 3px 8px; min-height: 18px;
  selection-background-color: %accent%; selection-color: %on_accent%; }
QPlainTextEdit[kind="mono"], QLineEdit[kind="mono"], QTextEdit[kind="mono"] {
  font-family: "DejaVu Sans Mono", monospace; }
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus {
  border: 2px solid %accent%; padding: 2px 7px; }
QLineEdit[invalid="true"], QPlainTextEdit[invalid="true"], QComboBox[invalid="true"] { border: 1px solid %error%; }
QLineEdit[invalid="true"]:focus { border: 2px solid %error%; }
QLineEdit:disabled, QPlainTextEdit:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled, QComboBox:disabled {
  color: %disabled%; background: %ground%; border-color: %border%; }
QSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::up-button, QDoubleSpinBox::down-button { width: 0px;
  border: none; }
QComboBox { padding-right: 18px; }
QComboBox:focus { padding-right: 17px; }
QComboBox::drop-down { border: none; width: 16px; }
QComboBox::down-arrow { image: url(:/widgets/icons/chevron-%scheme%.svg); width: 9px; height: 9px; }
QComboBox QAbstractItemView { background: %card%; color: %text%; border: 1px solid %control%; outline: none;
  selection-background-color: %tint%; selection-color: %text%; padding: 2px; }

QCheckBox, QRadioButton { color: %text%; spacing: 6px; border: 2px solid transparent; border-radius: 4px;
  background: transparent; }
QCheckBox:focus, QRadioButton:focus { border: 2px solid %accent%; }
QCheckBox:disabled, QRadioButton:disabled { color: %disabled%; }
QCheckBox::indicator { width: 13px; height: 13px; border: 1px solid %secondary%; border-radius: 3px;
  background: %card%; }
QCheckBox::indicator:checked { background: %accent%; border-color: %accent%;
  image: url(:/widgets/icons/check-%scheme%.svg); }
QSlider { background: transparent; border: 2px solid transparent; border-radius: 4px; }
QSlider:focus { border: 2px solid %accent%; }
QSlider::groove:horizontal { height: 4px; border-radius: 2px; background: %border%; }
QSlider::sub-page:horizontal { height: 4px; border-radius: 2px; background: %accent%; }
QSlider::handle:horizontal { width: 14px; height: 14px; margin: -5px 0; border-radius: 7px; background: %accent%; }
QProgressBar { background: %border%; border: none; border-radius: 2px; max-height: 4px; }
QProgressBar::chunk { background: %accent%; border-radius: 2px; }

QMenu { background: %card%; color: %text%; border: 1px solid %control%; padding: 4px; }
QMenu::item { padding: 5px 24px 5px 12px; border-radius: 4px; }
QMenu::item:selected { background: %tint%; color: %text%; }
QMenu::item:disabled { color: %disabled%; }
QMenu::separator { height: 1px; background: %border%; margin: 4px 8px; }
QMenuBar { background: %card%; color: %text%; }
QMenuBar::item { padding: 4px 8px; background: transparent; }
QMenuBar::item:selected { background: %tint%; }

QAbstractScrollArea { border: none; background: transparent; }
QPlainTextEdit { border: 1px solid %control%; background: %card%; }
QScrollArea > QWidget > QWidget { background: transparent; }
QListView, QTreeView, QTableView { background: transparent; color: %text%; border: 2px solid transparent;
  border-radius: 6px; outline: none; selection-background-color: %tint%; selection-color: %text%; }
QListView:focus, QTreeView:focus, QTableView:focus { border: 2px solid %accent%; }
QListView[kind="runs"]:focus { border: 2px solid transparent; }
QTableView { gridline-color: %grid%; }
QTableView::item { padding: 0 5px; border: none; }
QTableView::item:selected { background: %tint%; color: %text%; }
QHeaderView { background: transparent; }
QHeaderView::section { background: transparent; color: %secondary%; border: none;
  border-bottom: 1px solid %border%; padding: 4px 8px; font-size: 11px; font-weight: 600; }
QTableCornerButton::section { background: transparent; border: none; }
QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle { background: %control%; border-radius: 3px; min-height: 24px; min-width: 24px; margin: 2px; }
QScrollBar::handle:hover { background: %secondary%; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QSplitter::handle { background: transparent; }
QTabWidget::pane { border: none; }
)";

}  // namespace

QString style_sheet(const Theme& theme) {
  const QColor disabled = mix(theme.card, theme.secondary, 0.65);
  const QColor accent_hover = mix(theme.accent, theme.dark ? QColor(Qt::white) : QColor(Qt::black), 0.12);
  const std::vector<std::pair<const char*, QColor>> colors = {
      {"ground", theme.ground}, {"card", theme.card},           {"border", theme.border},
      {"text", theme.text},     {"secondary", theme.secondary}, {"accent", theme.accent},
      {"grid", theme.grid},     {"on_accent", theme.on_accent}, {"tint", theme.tint},
      {"hover", theme.hover},   {"control", theme.control},     {"error", theme.error},
      {"disabled", disabled},   {"warning", theme.warning},     {"accent_hover", accent_hover}};
  QString sheet = QString::fromLatin1(kSheet);
  for (const auto& [name, color] : colors) {
    sheet.replace(QLatin1Char('%') + QLatin1String(name) + QLatin1Char('%'), color.name());
  }
  return sheet.replace(QLatin1String("%scheme%"), QLatin1String(theme.dark ? "dark" : "light"));
}

void set_kind(QWidget& widget, const char* kind) {
  widget.setProperty("kind", QLatin1String(kind));
  widget.style()->unpolish(&widget);
  widget.style()->polish(&widget);
  widget.update();
}

ThemeController::ThemeController(QApplication& application) : application_(application) {
  register_icons();
  application_.setStyle(QStyleFactory::create("Fusion"));
  application_.setFont(body_font());
  application_.installEventFilter(this);
  apply();
}

void ThemeController::set_choice(ThemeChoice choice) {
  if (choice == choice_) return;
  choice_ = choice;
  apply();
}

const Theme& ThemeController::theme() const { return dark_ ? dark_theme() : light_theme(); }

// The platform tells of a new system theme with ThemeChange.
bool ThemeController::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::ThemeChange && choice_ == ThemeChoice::automatic && !applying_) apply();
  return QObject::eventFilter(watched, event);
}

// A default palette gives back the platform's own; the caller sets ours right after.
bool ThemeController::system_is_dark() const {
  QApplication::setPalette(QPalette());
  return QApplication::palette().color(QPalette::Window).lightness() < 128;
}

void ThemeController::apply() {
  applying_ = true;
  dark_ = choice_ == ThemeChoice::dark || (choice_ == ThemeChoice::automatic && system_is_dark());
  QApplication::setPalette(to_palette(theme()));
  // A style sheet is matched against every widget anew, which takes longer than all else at the start.
  const QString sheet = style_sheet(theme());
  if (sheet != application_.styleSheet()) application_.setStyleSheet(sheet);
  applying_ = false;
  emit changed();
}

}  // namespace widgets
