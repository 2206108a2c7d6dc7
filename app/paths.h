// Where things lie, and how file names cross between Qt and the engine: UTF-8 on both sides, whatever the locale.
#pragma once

#include <QByteArray>
#include <QString>
#include <filesystem>

namespace app {

std::filesystem::path to_path(const QString& text);
QString to_text(const std::filesystem::path& path);

/// $XDG_CONFIG_HOME/fullband/session.json
std::filesystem::path session_file();
/// Where new runs go unless the user chose a folder: $XDG_DATA_HOME/fullband/runs
std::filesystem::path default_runs_folder();
/// The bytes of a file compiled into the program ("help/training.md"), not copied; empty when there is none.
QByteArray resource(const QString& name);

}  // namespace app
