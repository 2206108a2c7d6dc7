#include "engine/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/atomic_file.h"
#include "engine/error.h"
#include "engine/json_io.h"
#include "tests/support/temporary_folder.h"

namespace {

using engine::ConfigError;
using engine::Recipe;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

Recipe usable() {
  Recipe recipe;
  recipe.data.tasks = {{{"name", "completion"}, {"share", 1}}};
  return recipe;
}

/// A recipe in JSON in which no member has its default value.
json changed_everywhere(json object) {
  for (auto& [name, value] : object.items()) {
    if (value.is_object()) {
      value = changed_everywhere(value);
    } else if (value.is_boolean()) {
      value = !value.get<bool>();
    } else if (value.is_number_integer()) {
      value = value.get<std::int64_t>() + 1;
    } else if (value.is_number()) {
      value = value.get<double>() + 0.125;
    } else if (name == "tasks") {
      value = {{{"name", "memory"}}};
    } else if (name == "schedule") {
      value = {{{"share", 1.0}, {"passes", 5}}};
    } else if (name == "fusion") {
      value = "add";
    } else if (name == "norm_reading") {
      value = "raw";
    } else if (name == "state_tap") {
      value = "pre_norm";
    } else if (name == "optimizer") {
      value = "normuon";
    } else {
      value = value.get<std::string>() + "x";
    }
  }
  return object;
}

TEST(Recipe, EveryMemberSurvivesTheRoundTrip) {
  const json object = changed_everywhere(to_json(Recipe{}));
  const Recipe recipe = engine::recipe_from_json(object);
  EXPECT_EQ(to_json(recipe), object);
  EXPECT_NE(recipe, Recipe{});
}

TEST(Recipe, TheHashFollowsTheContent) {
  Recipe recipe = usable();
  const std::string hash = config_hash(recipe);
  EXPECT_THAT(hash, testing::MatchesRegex("[0-9a-f]{16}"));
  EXPECT_EQ(config_hash(engine::recipe_from_json(to_json(recipe))), hash);
  recipe.train.rate *= 1.0000001;
  EXPECT_NE(config_hash(recipe), hash);
}

/// The field that an override and the check after it complain of, "" if none.
std::string bad_field(const std::string& assignment) {
  Recipe recipe = usable();
  try {
    apply_override(recipe, assignment);
    recipe.validate();
  } catch (const ConfigError& error) {
    return error.field();
  }
  return "";
}

TEST(Recipe, UsableValuesPass) {
  for (const char* assignment :
       {"train.rate=10", "train.steps=2e3", "model.fusion=add", "train.schedule=[[40,1],[35,2],[25,3]]",
        "train.schedule=[{\"share\": 1, \"passes\": 64}]", "train.optimizer=normuon", "data.answer_weight=0",
        "train.clip=0", "data.tasks.0.distractors=4", "name=123", "name=true", "claim=a=b", "train.validate_every=0",
        "train.interleaved=true", "data.tokenizer=byte"}) {
    EXPECT_EQ(bad_field(assignment), "") << assignment;
  }
}

TEST(Recipe, UnusableValuesNameTheField) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"train.rate=0", "train.rate"},
      {"train.rate=-1", "train.rate"},
      {"train.rate=NaN", "train.rate"},
      {"train.rate=Infinity", "train.rate"},
      {"train.rate=1e999", "train.rate"},
      {"train.rate=", "train.rate"},
      {"train.adam_rate=0", "train.adam_rate"},
      {"train.steps=0", "train.steps"},
      {"train.steps=99999999999999999999", "train.steps"},
      {"train.steps=2.5", "train.steps"},
      {"train.rows=0", "train.rows"},
      {"train.rows=1000000000", "train.rows"},
      {"train.schedule=[]", "train.schedule"},
      {"train.schedule=7", "train.schedule"},
      {"train.schedule=[[0.5,1]]", "train.schedule"},
      {"train.schedule=[[1,0]]", "train.schedule.0.passes"},
      {"train.schedule=[[0.5,1],[0.5,65]]", "train.schedule.1.passes"},
      {"train.schedule=[[0.5,1],[0.5,1e10]]", "train.schedule.1.passes"},
      {"train.schedule=[[2,1],[-1,1]]", "train.schedule.0.share"},
      {"train.schedule.1.pases=2", "train.schedule.1.pases"},
      {"train.lambda=-1", "train.lambda"},
      {"train.jitter=-0.1", "train.jitter"},
      {"train.fully_fused_share=1.5", "train.fully_fused_share"},
      {"train.optimizer=sgd", "train.optimizer"},
      {"train.beta1=1", "train.beta1"},
      {"train.beta2=-0.5", "train.beta2"},
      {"train.epsilon=0", "train.epsilon"},
      {"train.weight_decay=-1", "train.weight_decay"},
      {"train.warmup_steps=-1", "train.warmup_steps"},
      {"train.cooldown_share=2", "train.cooldown_share"},
      {"train.final_rate=2", "train.final_rate"},
      {"train.clip=-1", "train.clip"},
      {"train.z_loss=-1", "train.z_loss"},
      {"train.validate_every=-1", "train.validate_every"},
      {"train.validation_rows=0", "train.validation_rows"},
      {"train.validation_passes=65", "train.validation_passes"},
      {"train.checkpoint_every=-1", "train.checkpoint_every"},
      {"train.log_every=0", "train.log_every"},
      {"data.seq=1", "data.seq"},
      {"data.tokenizer=bpe", "data.tokenizer"},
      {"data.tasks=[]", "data.tasks"},
      {"data.tasks={}", "data.tasks"},
      {"data.tasks=[3]", "data.tasks.0"},
      {"data.tasks.0.share=0", "data.tasks.0.share"},
      {"data.tasks.0.share=x", "data.tasks.0.share"},
      {"data.tasks.1.share=1", "data.tasks.1.share"},
      {"data.text=corpus.txt", "data.tasks"},
      {"data.answer_weight=-1", "data.answer_weight"},
      {"data.validation_share=0", "data.validation_share"},
      {"data.validation_share=1", "data.validation_share"},
      {"model.heads=3", "model.kv_heads"},
      {"name=", "name"},
      {"train.rat=1", "train.rat"},
      {"nothing=1", "nothing"},
      {"train.rate.x=1", "train.rate.x"},
      {"train=5", "train"},
  };
  for (const auto& [assignment, field] : cases) {
    EXPECT_EQ(bad_field(assignment), field) << assignment;
  }
  EXPECT_THAT(bad_field("train.rate"), HasSubstr("override"));
}

TEST(Recipe, ARefusedOverrideChangesNothing) {
  Recipe recipe = usable();
  EXPECT_THROW(apply_override(recipe, "train.rat=1"), ConfigError);
  EXPECT_THROW(apply_override(recipe, "train.steps=x"), ConfigError);
  EXPECT_EQ(recipe, usable());
}

TEST(Recipe, ExactlyOneSourceOfText) {
  Recipe recipe = usable();
  recipe.data.tasks = json::array();
  EXPECT_THROW(recipe.validate(), ConfigError);
  recipe.data.text = "corpus.txt";
  EXPECT_THROW(recipe.validate(), ConfigError);  // symbols cannot spell free text
  recipe.data.tokenizer = "byte";
  EXPECT_NO_THROW(recipe.validate());
  recipe.data.jsonl = "corpus.jsonl";
  EXPECT_THROW(recipe.validate(), ConfigError);
}

TEST(Recipe, NotANumberIsRefusedWithoutAFile) {
  for (const double value : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    Recipe recipe = usable();
    recipe.train.lambda = value;
    EXPECT_THROW(recipe.validate(), ConfigError);
  }
}

TEST(Recipe, ThoseThatShipCanBeUsed) {
  int recipes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(FULLBAND_SOURCE_DIR "/resources/recipes")) {
    EXPECT_NO_THROW(engine::load_recipe(entry.path()).validate()) << entry.path();
    ++recipes;
  }
  EXPECT_GT(recipes, 0);
}

/// The message of the FormatError that loading gives.
std::string refusal(const std::string& text) {
  const support::TemporaryFolder folder;
  engine::write_file_atomically(folder / "r.json", text);
  try {
    engine::load_recipe(folder / "r.json");
  } catch (const engine::FormatError& error) {
    return error.what();
  }
  return "";
}

TEST(Recipe, FilesWithErrorsNameFileAndPlace) {
  EXPECT_THAT(refusal("{\n\"name\": \"x\",\n}"), AllOf(HasSubstr("r.json"), HasSubstr("line 3")));
  EXPECT_THAT(refusal("{\"name\": \"x\",\n\"name\": \"y\"}"), AllOf(HasSubstr("line 2"), HasSubstr("twice")));
  EXPECT_THAT(refusal("{\"train\": {\"rte\": 1}}"), AllOf(HasSubstr("r.json"), HasSubstr("train.rte")));
  EXPECT_THAT(refusal("[]"), HasSubstr("object"));
  EXPECT_EQ(refusal("{\"train\": {\"rate\": 1e-3}}"), "");
  EXPECT_THROW(engine::load_recipe("/no/such/recipe.json"), engine::FileError);
}

}  // namespace
