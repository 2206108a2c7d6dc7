#include "app/paths.h"

#include <QStandardPaths>

#include "resources/embedded.h"

namespace app {

std::filesystem::path to_path(const QString& text) { return text.toStdString(); }
QString to_text(const std::filesystem::path& path) { return QString::fromStdString(path.string()); }

std::filesystem::path session_file() {
  const QString folder = QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation);
  return to_path(folder) / "fullband" / "session.json";
}

std::filesystem::path default_runs_folder() {
  const QString folder = QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation);
  return to_path(folder) / "fullband" / "runs";
}

QByteArray resource(const QString& name) {
  const auto bytes = resources::find(name.toStdString());
  if (!bytes) return {};
  return QByteArray::fromRawData(bytes->data(), static_cast<qsizetype>(bytes->size()));
}

}  // namespace app
