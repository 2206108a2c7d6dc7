#include "widgets/recipe_fields.h"

#include <QLocale>
#include <QRegularExpression>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "widgets/numbers.h"

namespace widgets {
namespace {

using Kind = FieldKind;
using Group = FieldGroup;
using nlohmann::json;

std::vector<RecipeField> make_fields() {
  return {
      {"model.dim", "Width D", Kind::integer, Group::basic, "size of a token's state"},
      {"model.layers", "Layers L", Kind::integer, Group::basic, "depth of the stack"},
      {"model.heads", "Heads", Kind::integer, Group::basic, "attention heads; must divide the width"},
      {"model.fusion",
       "Fusion",
       Kind::choice,
       Group::basic,
       "how the carried state meets the token's embedding",
       {"gate", "add", "concat"}},
      {"model.norm_reading",
       "Input norm",
       Kind::choice,
       Group::basic,
       "what enters the stack",
       {"gain", "unit", "listing3", "raw"}},
      {"train.steps", "Steps", Kind::integer, Group::basic, "optimiser steps"},
      {"train.rows", "Rows × tokens", Kind::rows, Group::basic, "rows a step and tokens a row, as 64 × 44"},
      {"train.schedule", "Schedule", Kind::schedule, Group::basic,
       "per cent of the steps with K = 1 / 2 / 3 passes, as 40 / 35 / 25; other K as 75x2 / 25x4"},
      {"train.rate", "Rate", Kind::number, Group::basic, "learning rate after warm-up"},
      {"train.jitter", "Jitter", Kind::number, Group::basic, "uniform noise on the carried state while training"},

      {"model.kv_heads", "Key/value heads", Kind::integer, Group::model, "fewer than heads: grouped-query attention"},
      {"model.ffn", "Feed-forward width", Kind::integer, Group::model, "width of the SwiGLU branch"},
      {"model.state_tap",
       "State tap",
       Kind::choice,
       Group::model,
       "the top state before or after the final norm",
       {"post_norm", "pre_norm"}},
      {"model.qk_norm", "Query/key norm", Kind::flag, Group::model, "RMS norm on every query and key head"},
      {"model.sandwich_norm", "Sandwich norm", Kind::flag, Group::model, "RMS norm on each branch's output"},
      {"model.head_gate", "Head gate", Kind::flag, Group::model, "sigmoid gate on each head's output"},
      {"model.window", "Window", Kind::integer, Group::model, "attention window in positions; 0: full"},
      {"model.full_every", "Full every", Kind::integer, Group::model, "with a window, every n-th layer stays full"},
      {"model.depth_scale", "Depth scale", Kind::flag, Group::model, "branch outputs times 1/√(2L)"},
      {"model.tied", "Tied head", Kind::flag, Group::model, "the output head is the embedding"},
      {"model.rope_base", "RoPE base", Kind::number, Group::model, "base of the rotary angles"},

      {"data.text", "Text file", Kind::text, Group::data, "UTF-8 text file or folder, instead of tasks"},
      {"data.jsonl", "JSONL file", Kind::text, Group::data, "JSON Lines file, instead of tasks"},
      {"data.jsonl_field", "JSONL member", Kind::text, Group::data, "the member that holds the text"},
      {"data.tokenizer",
       "Tokenizer",
       Kind::choice,
       Group::data,
       "how text becomes tokens",
       {"symbols", "byte", "sentencepiece-bpe", "sentencepiece-unigram"}},
      {"data.tokenizer_vocab", "Vocabulary", Kind::integer, Group::data, "SentencePiece vocabulary size"},
      {"data.packing", "Packing", Kind::flag, Group::data, "several documents a row"},
      {"data.answer_weight", "Answer weight", Kind::number, Group::data, "loss weight of an answer's tokens"},
      {"data.other_weight", "Other weight", Kind::number, Group::data, "loss weight of all other tokens"},
      {"data.validation_share", "Held out", Kind::number, Group::data, "share of the examples kept for validation"},

      {"train.interleaved", "Interleaved", Kind::flag, Group::training, "draw K per step instead of stage after stage"},
      {"train.lambda", "Lambda", Kind::number, Group::training, "weight of the later passes' mean loss"},
      {"train.prefix_mixin", "Prefix mix-in", Kind::flag, Group::training, "a random plain prefix a row and pass"},
      {"train.fully_fused_share", "Fully fused", Kind::number, Group::training,
       "share of the rows whose first position alone is plain"},
      {"train.detach", "Detach", Kind::flag, Group::training, "no gradient through the carried state"},
      {"train.optimizer",
       "Optimiser",
       Kind::choice,
       Group::training,
       "NorMuon trains the matrices, Adam the rest",
       {"adamw", "normuon"}},
      {"train.adam_rate", "Adam rate", Kind::number, Group::training, "with NorMuon: the rate of the rest"},
      {"train.beta1", "Beta 1", Kind::number, Group::training, "decay of the first moment"},
      {"train.beta2", "Beta 2", Kind::number, Group::training, "decay of the second moment"},
      {"train.epsilon", "Epsilon", Kind::number, Group::training, "added to the root of the second moment"},
      {"train.weight_decay", "Weight decay", Kind::number, Group::training, "decoupled, times the rate"},
      {"train.warmup_steps", "Warm-up steps", Kind::integer, Group::training, "steps until the full rate"},
      {"train.cooldown_share", "Cool-down", Kind::number, Group::training, "last share of the steps, the rate falls"},
      {"train.final_rate", "Final rate", Kind::number, Group::training, "at the end, as a share of the rate"},
      {"train.clip", "Clip", Kind::number, Group::training, "largest gradient norm; 0: off"},
      {"train.z_loss", "z-loss", Kind::number, Group::training, "in the cool-down"},
      {"train.validate_every", "Validate every", Kind::integer, Group::training, "steps between validations"},
      {"train.validation_rows", "Validation rows", Kind::integer, Group::training, "rows a validation"},
      {"train.validation_passes", "Validation passes", Kind::integer, Group::training, "0: the schedule's largest K"},
      {"train.checkpoint_every", "Checkpoint every", Kind::integer, Group::training, "steps between checkpoints"},
      {"train.log_every", "Log every", Kind::integer, Group::training, "steps between log lines"},
      {"train.recompute", "Recompute", Kind::flag, Group::training, "less memory, a third more work, the same numbers"},
  };
}

json value_at(const json& recipe, const std::string& path) {
  const auto dot = path.find('.');
  return recipe.at(path.substr(0, dot)).at(path.substr(dot + 1));
}

// Small rates read best as 2e-3, as people write them.
QString number_text(double value) {
  QString text = exact_number(value);
  text.replace(QRegularExpression(QStringLiteral("e([+-])0*(\\d)")), QStringLiteral("e\\1\\2"));
  text.replace(QLatin1String("e+"), QLatin1String("e"));
  if (value != 0 && std::abs(value) < 0.01 && !text.contains(QLatin1Char('e'))) {
    QString scientific = QLocale::c().toString(value, 'e', QLocale::FloatingPointShortest);
    scientific.replace(QRegularExpression(QStringLiteral("e([+-])0*(\\d)")), QStringLiteral("e\\1\\2"));
    return scientific;
  }
  return text;
}

double parse_number(const QString& text, const char* field) {
  bool good = false;
  const double value = QLocale::c().toDouble(text.trimmed(), &good);
  if (!good || !std::isfinite(value)) throw engine::ConfigError(field, "needs a number such as 2e-3 or 0.02");
  return value;
}

qlonglong parse_integer(const QString& text, const char* field) {
  bool good = false;
  QString plain = text.trimmed();
  plain.remove(QRegularExpression(QStringLiteral("[\\s_,]")));
  const qlonglong value = plain.toLongLong(&good);
  if (!good) throw engine::ConfigError(field, "needs a whole number");
  return value;
}

void parse_rows(engine::Recipe& recipe, const QString& text) {
  const QStringList parts = text.split(QRegularExpression(QStringLiteral("\\s*[×xX*]\\s*|\\s+")), Qt::SkipEmptyParts);
  if (parts.size() != 2) throw engine::ConfigError("train.rows", "needs rows and tokens, such as 64 × 44");
  recipe.train.rows = parse_integer(parts[0], "train.rows");
  recipe.data.seq = parse_integer(parts[1], "data.seq");
}

}  // namespace

const std::vector<RecipeField>& recipe_fields() {
  static const std::vector<RecipeField> fields = make_fields();
  return fields;
}

QString schedule_text(const std::vector<engine::Stage>& stages) {
  bool counting = true;
  for (std::size_t i = 0; i < stages.size(); ++i) counting = counting && stages[i].passes == static_cast<int>(i) + 1;
  QStringList parts;
  for (const engine::Stage& stage : stages) {
    const QString share = short_number(stage.share * 100, 6);
    parts << (counting ? share : QStringLiteral("%1x%2").arg(share).arg(stage.passes));
  }
  return parts.join(QStringLiteral(" / "));
}

std::vector<engine::Stage> parse_schedule(const QString& text) {
  std::vector<engine::Stage> stages;
  double total = 0;
  for (const QString& part : text.split(QLatin1Char('/'), Qt::SkipEmptyParts)) {
    const QStringList pair = part.trimmed().split(QRegularExpression(QStringLiteral("\\s*[×xX]\\s*")));
    engine::Stage stage;
    stage.share = parse_number(pair[0], "train.schedule") / 100;
    stage.passes = pair.size() > 1 ? static_cast<int>(parse_integer(pair[1], "train.schedule"))
                                   : static_cast<int>(stages.size()) + 1;
    total += stage.share;
    stages.push_back(stage);
  }
  if (stages.empty()) throw engine::ConfigError("train.schedule", "needs per cents such as 40 / 35 / 25");
  if (std::abs(total - 1) > 1e-6) {
    throw engine::ConfigError("train.schedule",
                              "adds up to " + short_number(total * 100, 6).toStdString() + " per cent instead of 100");
  }
  return stages;
}

QString field_text(const RecipeField& field, const engine::Recipe& recipe) {
  if (field.kind == FieldKind::schedule) return schedule_text(recipe.train.schedule);
  if (field.kind == FieldKind::rows) return QStringLiteral("%1 × %2").arg(recipe.train.rows).arg(recipe.data.seq);
  const json value = value_at(engine::to_json(recipe), field.path);
  if (value.is_string()) return QString::fromStdString(value.get<std::string>());
  if (value.is_boolean()) return value.get<bool>() ? QStringLiteral("true") : QStringLiteral("false");
  if (value.is_number_integer()) return QString::number(value.get<std::int64_t>());
  return number_text(value.get<double>());
}

void set_field(engine::Recipe& recipe, const RecipeField& field, const QString& text) {
  const std::string path = field.path;
  switch (field.kind) {
    case FieldKind::schedule:
      recipe.train.schedule = parse_schedule(text);
      return;
    case FieldKind::rows:
      parse_rows(recipe, text);
      return;
    case FieldKind::integer:
      engine::apply_override(recipe, path + "=" + std::to_string(parse_integer(text, field.path)));
      return;
    case FieldKind::number:
      engine::apply_override(recipe, path + "=" + exact_number(parse_number(text, field.path)).toStdString());
      return;
    case FieldKind::choice:
    case FieldKind::flag:
    case FieldKind::text:
      engine::apply_override(recipe, path + "=" + text.toStdString());
      return;
  }
}

bool owns_field(const RecipeField& field, const std::string& name) {
  const std::string path = field.path;
  if (name == path) return true;
  if (field.kind == FieldKind::rows) return name == "data.seq";
  // "train.schedule[1].passes" belongs to the schedule.
  return name.compare(0, path.size(), path) == 0 && (name[path.size()] == '.' || name[path.size()] == '[');
}

}  // namespace widgets
