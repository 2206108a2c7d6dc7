// The command line of the window.
#pragma once

#include <QString>
#include <QStringList>

namespace app {

struct Arguments {
  enum class Action { run, screenshots, report, figures, help, version, bad };
  Action action = Action::run;
  QString screenshots;  ///< folder for the pictures
  QString report;       ///< folder for the report
  QString figures;      ///< folder of a finding
  QString run;          ///< run folder, or "demo"
  QString theme;        ///< light | dark | auto; empty = as saved
  double scale = 1.0;   ///< of the pictures
  QString message;      ///< help text, or what is wrong, in one sentence
};

/// `arguments` as in main(), the program's name first.
Arguments parse_arguments(const QStringList& arguments);

}  // namespace app
