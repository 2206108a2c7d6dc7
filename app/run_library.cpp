#include "app/run_library.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "app/paths.h"
#include "engine/run_store.h"

namespace app {

namespace {

constexpr std::size_t kBatch = 24;  // entries shown at a time while a long list is read

RunEntry summarize(const std::filesystem::path& folder) {
  RunEntry entry;
  entry.key = folder.string();
  entry.name = folder.filename().string();
  try {
    const engine::RunSummary summary = engine::summarize_run(folder);
    if (!summary.name.empty()) entry.name = summary.name;
    entry.state = summary.state;
    entry.problem = summary.problem;
    entry.step = summary.step;
    entry.total_steps = summary.total_steps;
  } catch (const std::exception& error) {
    entry.state = "broken";
    entry.problem = error.what();
  }
  return entry;
}

/// Its last steps say how far it was trained; all are read when it is shown.
RunEntry demo_entry() {
  const QByteArray metrics = resource("models/demo.jsonl");
  const QByteArray tail = metrics.mid(metrics.lastIndexOf('\n', metrics.lastIndexOf("train/loss")) + 1);
  const RunData demo = load_run_text(kDemoKey, resource("models/demo.json").toStdString(), tail.toStdString());
  RunEntry entry;
  entry.key = kDemoKey;
  entry.name = demo.name;
  entry.state = "demo";
  entry.step = demo.step();
  entry.total_steps = demo.total_steps;
  return entry;
}

}  // namespace

RunData load_demo() {
  return load_run_text(kDemoKey, resource("models/demo.json").toStdString(),
                       resource("models/demo.jsonl").toStdString());
}

RunLibrary::RunLibrary(QObject* parent) : QObject(parent) {
  has_demo_ = !resource("models/demo.safetensors").isEmpty();
  if (has_demo_) entries_[kDemoKey] = demo_entry();
}

void RunLibrary::set_folder(const std::filesystem::path& folder) {
  if (folder == folder_) return;
  folder_ = folder;
  std::erase_if(entries_, [this](const auto& item) { return item.first != kDemoKey && !opened_.contains(item.first); });
  refresh();
}

void RunLibrary::refresh() {
  const std::uint64_t listing = ++listing_;
  background_.run([this, listing, folder = folder_]() -> Background::Done {
    std::vector<std::filesystem::path> runs;
    try {
      runs = engine::find_runs(folder);
    } catch (const std::exception&) {
      runs.clear();  // a folder that does not exist yet holds no runs
    }
    return [this, listing, runs = std::move(runs)] {
      for (std::size_t first = 0; first < runs.size(); first += kBatch) {
        const auto begin = runs.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end = runs.begin() + static_cast<std::ptrdiff_t>(std::min(first + kBatch, runs.size()));
        background_.run([this, listing, batch = std::vector(begin, end)]() -> Background::Done {
          std::vector<RunEntry> entries;
          for (const auto& run : batch) entries.push_back(summarize(run));
          return [this, listing, entries = std::move(entries)] { take(entries, listing); };
        });
      }
      if (runs.empty()) emit listed();
    };
  });
}

void RunLibrary::take(const std::vector<RunEntry>& entries, std::uint64_t listing) {
  if (listing != listing_) return;
  for (const RunEntry& entry : entries) entries_[entry.key] = entry;
  emit listed();
}

bool RunLibrary::add(const std::filesystem::path& run, QString& problem) {
  const RunEntry entry = summarize(run);
  if (entry.state == "broken") {
    problem = QString::fromStdString(entry.problem);
    return false;
  }
  opened_.insert(entry.key);
  update(entry);
  return true;
}

std::vector<RunEntry> RunLibrary::entries() const {
  std::vector<RunEntry> all;
  for (const auto& [key, entry] : entries_) all.push_back(entry);
  std::stable_sort(all.begin(), all.end(), [](const RunEntry& first, const RunEntry& second) {
    return std::pair(first.key != kDemoKey, first.name) < std::pair(second.key != kDemoKey, second.name);
  });
  return all;
}

void RunLibrary::update(const RunEntry& entry) {
  RunEntry& known = entries_[entry.key];
  if (known == entry) return;
  known = entry;
  emit listed();
}

void RunLibrary::remove(const std::string& key) {
  opened_.erase(key);
  data_.erase(key);
  requested_.erase(key);
  if (entries_.erase(key) > 0) emit listed();
}

std::shared_ptr<const RunData> RunLibrary::data(const std::string& key) {
  if (const auto found = data_.find(key); found != data_.end()) return found->second;
  if (!requested_.contains(key)) reload(key);
  return nullptr;
}

void RunLibrary::put(std::shared_ptr<const RunData> data) {
  const std::string key = data->key;
  requested_.insert(key);
  data_[key] = std::move(data);
}

void RunLibrary::reload(const std::string& key) {
  requested_.insert(key);
  background_.run([this, key]() -> Background::Done {
    auto data = std::make_shared<const RunData>(key == kDemoKey ? load_demo() : load_run_folder(key));
    return [this, key, data] {
      put(data);
      emit loaded(QString::fromStdString(key));
    };
  });
}

}  // namespace app
