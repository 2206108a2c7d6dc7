// A small model of noise for the pages that measure, made in memory.
#pragma once

#include <memory>
#include <string>

#include "app/analysis_model.h"
#include "tests/app/run_folders.h"
#include "tests/support/sample_checkpoint.h"

namespace app_tests {

/// Each run has weights of its own, which follow from its name: its folder is another in every test.
inline std::unique_ptr<app::AnalysisModel> sample_model(const std::string& key) {
  const std::string name = key.substr(key.rfind('/') + 1);
  const engine::Recipe recipe = small_recipe();
  const auto source = engine::data::make_batch_source(recipe.data);
  engine::Checkpoint checkpoint;
  checkpoint.config = recipe.model;
  checkpoint.config.vocab = source->tokenizer().vocab();
  checkpoint.model = support::noise_like(engine::parameter_layout(checkpoint.config), std::hash<std::string>()(name));
  for (engine::HostTensor& tensor : checkpoint.model) {
    for (float& value : tensor.values) value *= 0.3F;
  }
  checkpoint.tokenizer = source->tokenizer().to_json();
  auto model = std::make_unique<app::AnalysisModel>(checkpoint, 1);
  model->key = key;
  model->name = "model of " + name;
  model->step = 60;
  model->recipe = recipe;
  return model;
}

}  // namespace app_tests
