#include "widgets/config_form.h"

#include <gtest/gtest.h>

#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QLocale>
#include <QSignalSpy>
#include <QTest>

#include "engine/error.h"
#include "widgets/recipe_fields.h"

namespace {

using namespace widgets;

class ConfigFormTest : public ::testing::Test {
 protected:
  ConfigFormTest() {
    recipe.name = "demo";
    recipe.model.dim = 96;
    recipe.train.rate = 3e-3;
    recipe.train.schedule = {{0.15, 1}, {0.45, 2}, {0.4, 3}};
    recipe.data.tasks = nlohmann::json::array({{{"name", "completion"}, {"share", 1}}});
    form.set_recipe(recipe);
    form.show();
  }
  QLineEdit& edit(const char* path) { return *qobject_cast<QLineEdit*>(form.input(path)); }
  void type(const char* path, const QString& text) {
    edit(path).setFocus();
    edit(path).selectAll();
    QTest::keyClicks(&edit(path), text);
  }

  engine::Recipe recipe;
  ConfigForm form;
};

TEST_F(ConfigFormTest, ShowsARecipeAndGivesItBackUnchanged) {
  ASSERT_TRUE(form.valid()) << form.problem().toStdString();
  EXPECT_EQ(form.recipe(), recipe);
  EXPECT_EQ(edit("model.dim").text(), "96");
  EXPECT_EQ(edit("train.rate").text(), "3e-3");
  EXPECT_EQ(edit("train.schedule").text(), "15 / 45 / 40");
  EXPECT_EQ(edit("data.seq").text(), QString::fromUtf8("64 × 44"));
}

TEST_F(ConfigFormTest, EveryFieldRoundTripsThroughItsText) {
  for (const RecipeField& field : recipe_fields()) {
    engine::Recipe copy = recipe;
    const QString text = field_text(field, recipe);
    ASSERT_NO_THROW(set_field(copy, field, text)) << field.path << " " << text.toStdString();
    EXPECT_EQ(copy, recipe) << field.path;
  }
}

TEST_F(ConfigFormTest, EverySettingOfTheRecipeHasARow) {
  const nlohmann::json all = engine::to_json(recipe);
  for (const char* part : {"model", "train", "data"}) {
    for (const auto& [name, value] : all.at(part).items()) {
      const std::string path = std::string(part) + "." + name;
      if (path == "model.vocab" || path == "data.tasks") continue;  // set by the tokenizer, and by the recipe's file
      EXPECT_NE(form.input(path), nullptr) << path;
    }
  }
}

TEST_F(ConfigFormTest, TypingChangesTheRecipe) {
  QSignalSpy edited(&form, &ConfigForm::edited);
  type("train.steps", "1234");
  type("train.rows", "32 x 48");
  type("train.schedule", "75x2 / 25x4");
  type("train.rate", "0.0005");
  qobject_cast<QComboBox*>(form.input("model.fusion"))->setCurrentText("add");
  form.set_expanded(true);
  qobject_cast<QCheckBox*>(form.input("train.detach"))->click();
  EXPECT_TRUE(form.valid()) << form.problem().toStdString();
  EXPECT_EQ(form.recipe().train.steps, 1234);
  EXPECT_EQ(form.recipe().train.rows, 32);
  EXPECT_EQ(form.recipe().data.seq, 48);
  EXPECT_EQ(form.recipe().train.schedule, (std::vector<engine::Stage>{{0.75, 2}, {0.25, 4}}));
  EXPECT_EQ(form.recipe().train.rate, 0.0005);
  EXPECT_EQ(form.recipe().model.fusion, engine::FusionType::add);
  EXPECT_TRUE(form.recipe().train.detach);
  EXPECT_GT(edited.count(), 5);
}

TEST_F(ConfigFormTest, WhatIsWrongIsSaidAtItsRowAndTheRecipeStaysUsable) {
  type("train.steps", "many");
  EXPECT_FALSE(form.valid());
  EXPECT_TRUE(form.message("train.steps").contains("whole number"));
  EXPECT_TRUE(edit("train.steps").property("invalid").toBool());
  EXPECT_EQ(form.recipe(), recipe);
  type("train.schedule", "50 / 20");
  EXPECT_TRUE(form.message("train.schedule").contains("70 per cent"));
  EXPECT_TRUE(form.problem().startsWith("Steps"));
  type("train.steps", "100");
  EXPECT_TRUE(form.message("train.steps").isEmpty());
  EXPECT_FALSE(form.valid());
  type("train.schedule", "50 / 50");
  EXPECT_TRUE(form.valid());
}

TEST_F(ConfigFormTest, TheEnginesRulesSpeakInTheFormsWords) {
  type("model.heads", "5");
  EXPECT_FALSE(form.valid());
  EXPECT_FALSE(form.problem().isEmpty());
  EXPECT_FALSE(form.problem().contains("model.")) << form.problem().toStdString();
}

TEST_F(ConfigFormTest, AnErrorInAFoldedRowUnfolds) {
  EXPECT_FALSE(form.expanded());
  form.show_problem("train.beta2", "must be below 1");
  EXPECT_TRUE(form.expanded());
  EXPECT_EQ(form.message("train.beta2"), "must be below 1");
  form.show_problem("somewhere.else", "is odd");
  EXPECT_FALSE(form.valid());
}

TEST_F(ConfigFormTest, TheSeedIsAWholeNumber) {
  type("seed", "18446744073709551615");
  EXPECT_EQ(form.seed(), 18446744073709551615ULL);
  type("seed", "-1");
  EXPECT_FALSE(form.valid());
}

TEST_F(ConfigFormTest, NumbersHaveAPointUnderAGermanLocale) {
  const QLocale before;
  QLocale::setDefault(QLocale(QLocale::German));
  form.set_recipe(recipe);
  EXPECT_EQ(edit("train.jitter").text(), "0.02");
  type("train.jitter", "0.03");
  EXPECT_EQ(form.recipe().train.jitter, 0.03);
  type("train.jitter", "0,04");
  EXPECT_FALSE(form.valid());
  QLocale::setDefault(before);
}

TEST_F(ConfigFormTest, ALockedFormTakesNoInput) {
  form.set_locked(true);
  QTest::keyClicks(&edit("train.steps"), "9");
  EXPECT_EQ(form.recipe(), recipe);
  EXPECT_FALSE(edit("train.steps").isEnabled());
}

TEST(Schedule, TextAndStagesAreTheSame) {
  EXPECT_EQ(schedule_text(parse_schedule("75/22/3")), "75 / 22 / 3");
  EXPECT_EQ(schedule_text(parse_schedule("100 x 4")), "100x4");
  EXPECT_THROW(parse_schedule(""), engine::ConfigError);
  EXPECT_THROW(parse_schedule("a / b"), engine::ConfigError);
  EXPECT_THROW(parse_schedule("60 / 60"), engine::ConfigError);
}

}  // namespace
