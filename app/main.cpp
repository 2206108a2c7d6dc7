// fullband: the window.
#include <QApplication>
#include <QDir>
#include <QFileInfo>
#include <QTemporaryDir>
#include <cstdio>
#include <exception>
#include <optional>

#include "app/analysis_model.h"
#include "app/arguments.h"
#include "app/finding_figures.h"
#include "app/main_window.h"
#include "app/paths.h"
#include "app/report.h"
#include "app/screenshots.h"
#include "engine/error.h"
#include "engine/version.h"
#include "widgets/style.h"

namespace {

using app::Arguments;

int print(std::FILE* stream, const QString& text, int code) {
  std::fprintf(stream, "%s\n", qUtf8Printable(text.trimmed()));
  return code;
}

/// "demo", or the folder with its whole path, so that the key of a run does not depend on where the program started.
std::string run_key(const QString& run) {
  if (run.isEmpty() || run == "demo") return run.toStdString();
  return QDir::cleanPath(QFileInfo(run).absoluteFilePath()).toStdString();
}

app::WindowOptions window_options(const Arguments& arguments) {
  app::WindowOptions options;
  options.run = run_key(arguments.run);
  options.theme = arguments.theme;
  // Pictures show the run they are asked for, not the last session, and leave the session alone.
  if (arguments.action == Arguments::Action::run) options.session_file = app::session_file();
  return options;
}

/// Without a display there is often no folder for the session's sockets either, which Qt would complain about on
/// standard error; it gets one of its own as long as the program runs.
class RuntimeFolder {
 public:
  RuntimeFolder() {
    constexpr const char* kName = "XDG_RUNTIME_DIR";
    if (!qEnvironmentVariableIsEmpty(kName)) return;
    folder_.emplace();
    if (folder_->isValid()) qputenv(kName, QFile::encodeName(folder_->path()));
  }

 private:
  std::optional<QTemporaryDir> folder_;
};

void prepare_pictures(const Arguments& arguments) {
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  qputenv("QT_SCALE_FACTOR", QByteArray::number(arguments.scale));
  QApplication::setHighDpiScaleFactorRoundingPolicy(Qt::HighDpiScaleFactorRoundingPolicy::PassThrough);
}

int write_report(const Arguments& arguments) {
  app::write_report(run_key(arguments.run), arguments.report,
                    [](const std::string& doing) { std::fprintf(stderr, "report: %s\n", doing.c_str()); });
  return print(stdout, "report: " + arguments.report + "/report.html", 0);
}

int write_figures(const Arguments& arguments) {
  QString names;
  for (const QString& name : app::write_finding_figures(arguments.figures)) names += name + ".svg " + name + ".pdf ";
  return print(stdout, "figures: " + names, 0);
}

/// A run that cannot be read is told with its reason; one without a checkpoint yet has curves to show.
void require_readable(const std::string& key) {
  if (key.empty()) return;
  app::read_settings(key);
  try {
    app::read_checkpoint(key);
  } catch (const app::NoCheckpoint&) {
  }
}

int run(QApplication& application, const Arguments& arguments) {
  if (arguments.action == Arguments::Action::report) return write_report(arguments);
  if (arguments.action == Arguments::Action::figures) return write_figures(arguments);
  if (arguments.action == Arguments::Action::screenshots) require_readable(run_key(arguments.run));
  widgets::ThemeController theme(application);
  app::MainWindow window(theme, window_options(arguments));
  if (arguments.action == Arguments::Action::screenshots) {
    if (!arguments.run.isEmpty() && window.current_run() != run_key(arguments.run)) {
      throw engine::FileError(arguments.run.toStdString(), "holds no run that can be opened");
    }
    app::take_screenshots(window, arguments.screenshots);
    return 0;
  }
  window.show();
  return QApplication::exec();
}

}  // namespace

int main(int argc, char** argv) {
  QStringList list;
  for (int i = 0; i < argc; ++i) list << QString::fromLocal8Bit(argv[i]);
  const Arguments arguments = app::parse_arguments(list);
  switch (arguments.action) {
    case Arguments::Action::help:
      return print(stdout, arguments.message, 0);
    case Arguments::Action::version:
      return print(stdout, QString("fullband ") + engine::version(), 0);
    case Arguments::Action::bad:
      return print(stderr, "fullband: " + arguments.message, 2);
    case Arguments::Action::screenshots:
    case Arguments::Action::report:
    case Arguments::Action::figures:
      prepare_pictures(arguments);
      break;
    case Arguments::Action::run:
      break;
  }
  const RuntimeFolder runtime_folder;
  QApplication application(argc, argv);
  QApplication::setApplicationName("fullband");
  QApplication::setApplicationDisplayName("Fullband");
  QApplication::setApplicationVersion(engine::version());
  try {
    return run(application, arguments);
  } catch (const std::exception& error) {
    return print(stderr, QString("fullband: ") + error.what(), 1);
  }
}
