// A recipe: model, data and training settings, one JSON file; what a run was made from and can be made from again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/config.h"

namespace engine {

/// One stage of the pass schedule: this share of the steps is trained with this many passes K.
struct Stage {
  double share = 1.0;
  int passes = 1;

  friend bool operator==(const Stage&, const Stage&) = default;
};

enum class OptimizerType { adamw, normuon };

/// Where training text comes from. Exactly one of `tasks`, `text` and `jsonl` is used.
struct DataConfig {
  nlohmann::json tasks = nlohmann::json::array();  ///< [{"name": "completion", "share": 1, ...task options}, ...]
  std::string text;                                ///< UTF-8 text file, or folder of them
  std::string jsonl;                               ///< JSON Lines file ...
  std::string jsonl_field = "text";                ///< ... and the member that holds the text
  std::string tokenizer = "symbols";               ///< symbols | byte | sentencepiece-bpe | sentencepiece-unigram
  std::int64_t tokenizer_vocab = 512;              ///< SentencePiece vocabulary size
  std::int64_t seq = 44;                           ///< tokens a row
  bool packing = false;                            ///< several documents a row (otherwise one, padded)
  double answer_weight = 1.0;                      ///< loss weight of an answer's tokens
  double other_weight = 1.0;                       ///< loss weight of all other tokens
  double validation_share = 0.1;                   ///< share of the examples, by content, kept for validation

  friend bool operator==(const DataConfig&, const DataConfig&) = default;
};

struct TrainConfig {
  std::int64_t steps = 2000;
  std::int64_t rows = 64;
  std::vector<Stage> schedule = {{0.4, 1}, {0.35, 2}, {0.25, 3}};
  bool interleaved = false;         ///< draw K per step with the shares as weights, instead of stage after stage
  double lambda = 1.0;              ///< weight of the later passes' mean loss (paper, Eq. 11)
  double jitter = 0.02;             ///< uniform noise on the carried state, training only
  bool prefix_mixin = true;         ///< a random plain prefix a row and pass; off: only the first position is plain
  double fully_fused_share = 0.25;  ///< with mix-in: this share of the rows keeps only its first position plain
  bool detach = false;              ///< no gradient through the carried state
  OptimizerType optimizer = OptimizerType::adamw;
  double rate = 2e-3;       ///< AdamW, or NorMuon for matrices
  double adam_rate = 5e-4;  ///< with NorMuon: Adam's rate for the rest
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  double weight_decay = 0.01;  ///< decoupled, times the rate; with NorMuon for matrices alone
  std::int64_t warmup_steps = 50;
  double cooldown_share = 0.3;        ///< last share of the steps, rate to `final_rate` linearly
  double final_rate = 0.02;           ///< as a share of the rate
  double clip = 1.0;                  ///< gradient norm; 0 = off
  double z_loss = 1e-5;               ///< in the cool-down
  std::int64_t validate_every = 100;  ///< steps; 0 = never
  std::int64_t validation_rows = 256;
  int validation_passes = 0;            ///< passes measured in validation; 0 = the schedule's largest K
  std::int64_t checkpoint_every = 500;  ///< steps; 0 = only when a training ends
  std::int64_t log_every = 1;
  bool recompute = false;  ///< backwards compute blocks again instead of keeping them: less memory, a third more work

  friend bool operator==(const TrainConfig&, const TrainConfig&) = default;
};

struct Recipe {
  std::string name = "untitled";
  std::string claim;  ///< one line: what training this shows
  ModelConfig model;  ///< `model.vocab` is set from the tokenizer when training starts
  DataConfig data;
  TrainConfig train;

  /// Throws ConfigError naming the field ("train.rate") that cannot be used.
  void validate() const;

  friend bool operator==(const Recipe&, const Recipe&) = default;
};

std::string to_string(OptimizerType value);

nlohmann::json to_json(const Recipe& recipe);
/// Missing members keep defaults; unknown members and wrong types are a ConfigError naming the dotted field.
Recipe recipe_from_json(const nlohmann::json& object);
/// Reads a recipe file; FormatError / FileError name the file and the line or field. Ranges are left to validate().
Recipe load_recipe(const std::filesystem::path& file);
/// "train.rate=1e-3" changes one field; the value is JSON, or a bare string. ConfigError names an unknown field.
void apply_override(Recipe& recipe, const std::string& assignment);
/// 16 hex digits over the canonical JSON: the same for equal recipes.
std::string config_hash(const Recipe& recipe);

}  // namespace engine
