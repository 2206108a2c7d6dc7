// The controls of a page as one JSON object, kept in the session: "rows": 64, "task": "memory" and so on.
#pragma once

#include <QObject>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QLineEdit;
class QSpinBox;

namespace app {

class FormMemory : public QObject {
  Q_OBJECT

 public:
  explicit FormMemory(QObject* parent = nullptr) : QObject(parent) {}

  void add(const std::string& name, QSpinBox* box);
  void add(const std::string& name, QDoubleSpinBox* box);
  void add(const std::string& name, QLineEdit* line);
  void add(const std::string& name, QCheckBox* box);
  /// By the item's data, or its text where it has none; what is not among the items is passed over.
  void add(const std::string& name, QComboBox* box);
  /// Anything else; call changed() when it changes. `set` may throw nlohmann::json exceptions.
  void add(const std::string& name, std::function<nlohmann::json()> get,
           std::function<void(const nlohmann::json&)> set);

  [[nodiscard]] nlohmann::json values() const;
  /// Takes what it knows and can use; everything else stays as it is.
  void set_values(const nlohmann::json& values);

 signals:
  void changed();

 private:
  struct Field {
    std::string name;
    std::function<nlohmann::json()> get;
    std::function<void(const nlohmann::json&)> set;
  };
  std::vector<Field> fields_;
};

}  // namespace app
