#include "app/form_memory.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLineEdit>
#include <QSpinBox>
#include <utility>

namespace app {

namespace {

using nlohmann::json;

QString key_of(const QComboBox& box, int index) {
  const QVariant data = box.itemData(index);
  return data.isValid() ? data.toString() : box.itemText(index);
}

void choose(QComboBox& box, const QString& key) {
  for (int i = 0; i < box.count(); ++i) {
    if (key_of(box, i) == key) return box.setCurrentIndex(i);
  }
}

}  // namespace

void FormMemory::add(const std::string& name, std::function<json()> get, std::function<void(const json&)> set) {
  fields_.push_back({name, std::move(get), std::move(set)});
}

void FormMemory::add(const std::string& name, QSpinBox* box) {
  add(
      name, [box] { return json(box->value()); }, [box](const json& value) { box->setValue(value.get<int>()); });
  connect(box, &QSpinBox::valueChanged, this, &FormMemory::changed);
}

void FormMemory::add(const std::string& name, QDoubleSpinBox* box) {
  add(
      name, [box] { return json(box->value()); }, [box](const json& value) { box->setValue(value.get<double>()); });
  connect(box, &QDoubleSpinBox::valueChanged, this, &FormMemory::changed);
}

void FormMemory::add(const std::string& name, QLineEdit* line) {
  add(
      name, [line] { return json(line->text().toStdString()); },
      [line](const json& value) { line->setText(QString::fromStdString(value.get<std::string>())); });
  connect(line, &QLineEdit::textChanged, this, &FormMemory::changed);
}

void FormMemory::add(const std::string& name, QCheckBox* box) {
  add(
      name, [box] { return json(box->isChecked()); }, [box](const json& value) { box->setChecked(value.get<bool>()); });
  connect(box, &QCheckBox::toggled, this, &FormMemory::changed);
}

void FormMemory::add(const std::string& name, QComboBox* box) {
  add(
      name, [box] { return json(key_of(*box, box->currentIndex()).toStdString()); },
      [box](const json& value) { choose(*box, QString::fromStdString(value.get<std::string>())); });
  connect(box, &QComboBox::currentIndexChanged, this, &FormMemory::changed);
}

json FormMemory::values() const {
  json all = json::object();
  for (const Field& field : fields_) all[field.name] = field.get();
  return all;
}

// A session of another version, or one that was edited, must not keep the window from opening.
void FormMemory::set_values(const json& values) {
  if (!values.is_object()) return;
  for (const Field& field : fields_) {
    if (!values.contains(field.name)) continue;
    try {
      field.set(values.at(field.name));
    } catch (const json::exception&) {
      continue;
    }
  }
}

}  // namespace app
