// The runs that the window knows: the shipped demo, those in the runs folder, and those opened from elsewhere. Listing
// and loading happen on a thread of their own; a run's metrics are read when they are first asked for.
#pragma once

#include <QObject>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "app/background.h"
#include "app/run_data.h"

namespace app {

struct RunEntry {
  std::string key;
  std::string name;
  std::string state;  ///< as in engine::RunSummary, "demo" for the shipped checkpoint
  std::string problem;
  std::int64_t step = 0;
  std::int64_t total_steps = 0;

  friend bool operator==(const RunEntry&, const RunEntry&) = default;
};

class RunLibrary : public QObject {
  Q_OBJECT

 public:
  explicit RunLibrary(QObject* parent = nullptr);

  void set_folder(const std::filesystem::path& folder);
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  /// Looks at the folder again; `listed` follows, in batches.
  void refresh();
  /// Adds a run from anywhere; says false and why in `problem` when the folder is no run.
  bool add(const std::filesystem::path& run, QString& problem);
  /// The entries: the demo first, then the runs by name.
  [[nodiscard]] std::vector<RunEntry> entries() const;
  [[nodiscard]] bool has_demo() const { return has_demo_; }
  /// Changes what is shown of a run without reading its files (a training tells it).
  void update(const RunEntry& entry);
  void remove(const std::string& key);

  /// The metrics of a run, or nullptr until they are read (then `loaded` comes).
  std::shared_ptr<const RunData> data(const std::string& key);
  /// Replaces what is known of a run: the live training hands in its values.
  void put(std::shared_ptr<const RunData> data);
  /// Reads a run's files again.
  void reload(const std::string& key);
  [[nodiscard]] bool busy() const { return background_.busy(); }

 signals:
  void listed();
  void loaded(const QString& key);

 private:
  void take(const std::vector<RunEntry>& entries, std::uint64_t listing);

  std::filesystem::path folder_;
  std::set<std::string> opened_;  ///< keys from elsewhere, kept over a refresh
  std::map<std::string, RunEntry> entries_;
  std::map<std::string, std::shared_ptr<const RunData>> data_;
  std::set<std::string> requested_;
  std::uint64_t listing_ = 0;  ///< results of an older listing are dropped
  bool has_demo_ = false;
  Background background_;  // last: its thread ends first
};

/// The shipped demo's settings and metrics; key "demo", no steps when there is none.
RunData load_demo();

}  // namespace app
