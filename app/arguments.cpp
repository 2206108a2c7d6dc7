#include "app/arguments.h"

#include <QCommandLineParser>

namespace app {

namespace {

Arguments bad(const QString& sentence) {
  Arguments arguments;
  arguments.action = Arguments::Action::bad;
  arguments.message = sentence;
  return arguments;
}

void add_options(QCommandLineParser& parser) {
  parser.setApplicationDescription("Train small full-bandwidth transformers, watch them learn and take them apart.");
  parser.addOptions(
      {{{"h", "help"}, "Show this help."},
       {"version", "Show the version."},
       {"run", "Open the run in folder <DIR>, or the shipped one: demo.", "DIR"},
       {"theme", "light, dark or auto.", "theme"},
       {"screenshots", "Draw every page to a PNG file in <DIR> without a display, and end.", "DIR"},
       {"report",
        "Write a one-page report and the plots of --run (a folder, or demo) to <DIR> without a display, and end.",
        "DIR"},
       {"figures", "Draw the curves of the finding in <DIR> without a display, and end.", "DIR"},
       {"scale", "Scale of the pictures, 1 to 4.", "factor"}});
}

/// Without an application Qt does not know the program's name.
QString help_text(const QCommandLineParser& parser) {
  const QString text = parser.helpText();
  return QStringLiteral("Usage: fullband [options]") + text.mid(text.indexOf(QLatin1Char('\n')));
}

}  // namespace

Arguments parse_arguments(const QStringList& list) {
  QCommandLineParser parser;
  add_options(parser);
  if (!parser.parse(list)) return bad(parser.errorText());
  Arguments arguments;
  arguments.message = help_text(parser);
  if (parser.isSet("help")) arguments.action = Arguments::Action::help;
  if (parser.isSet("version")) arguments.action = Arguments::Action::version;
  if (arguments.action != Arguments::Action::run) return arguments;
  if (!parser.positionalArguments().isEmpty()) {
    return bad("Unexpected argument '" + parser.positionalArguments().first() + "'; open a run with --run DIR.");
  }
  arguments.run = parser.value("run");
  if (parser.isSet("run") && arguments.run.isEmpty()) return bad("--run needs the folder of a run.");
  arguments.theme = parser.value("theme");
  if (parser.isSet("theme") && !QStringList{"light", "dark", "auto"}.contains(arguments.theme)) {
    return bad("--theme must be light, dark or auto, not '" + arguments.theme + "'.");
  }
  if (parser.isSet("scale")) {
    bool ok = false;
    arguments.scale = parser.value("scale").toDouble(&ok);
    if (!ok || !(arguments.scale >= 1 && arguments.scale <= 4)) return bad("--scale must be a number from 1 to 4.");
    if (!parser.isSet("screenshots")) return bad("--scale belongs to --screenshots; a display's scale is its own.");
  }
  if (parser.isSet("report")) {
    arguments.report = parser.value("report");
    if (arguments.report.isEmpty()) return bad("--report needs a folder.");
    if (arguments.run.isEmpty()) return bad("--report needs --run with the folder of a run, or demo.");
    if (parser.isSet("screenshots")) return bad("--report and --screenshots do not go together.");
    arguments.action = Arguments::Action::report;
    return arguments;
  }
  if (parser.isSet("figures")) {
    arguments.figures = parser.value("figures");
    if (arguments.figures.isEmpty()) return bad("--figures needs the folder of a finding.");
    if (parser.isSet("screenshots")) return bad("--figures and --screenshots do not go together.");
    arguments.action = Arguments::Action::figures;
    return arguments;
  }
  arguments.screenshots = parser.value("screenshots");
  if (!parser.isSet("screenshots")) return arguments;
  if (arguments.screenshots.isEmpty()) return bad("--screenshots needs a folder.");
  arguments.action = Arguments::Action::screenshots;
  return arguments;
}

}  // namespace app
