#include "widgets/token_strip.h"

#include <gtest/gtest.h>

#include <QApplication>
#include <QClipboard>
#include <QHelpEvent>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>
#include <QToolTip>
#include <random>

#include "cpu_timer.h"
#include "pictures.h"

namespace {

using namespace widgets;

engine::RolloutToken token(const std::string& bytes, int id = 5, float logprob = -0.5F) {
  return {id, bytes, logprob, 0.8F, 0.21};
}

class TokenStripTest : public ::testing::Test {
 protected:
  TokenStripTest() {
    strip.resize(360, 200);
    strip.set_special_names({{63, "<eot>"}});
  }
  void show() {
    strip.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&strip));
  }
  TokenStrip strip;
};

TEST_F(TokenStripTest, WhitespaceAndControlsAreVisible) {
  for (const char* piece : {" a", "\n", "\t", "\x07", "b"}) strip.append(token(piece));
  EXPECT_EQ(strip.shown(0), QString::fromUtf8("·a"));
  EXPECT_EQ(strip.shown(1), QString::fromUtf8("↵"));
  EXPECT_EQ(strip.shown(2), QString::fromUtf8("⇥"));
  EXPECT_EQ(strip.shown(3), "<0x07>");
  EXPECT_EQ(strip.text(),
            " a\n\t\x07"
            "b");
}

TEST_F(TokenStripTest, SpecialTokensAreShownByName) {
  strip.append({token("x"), token("", 63), token("", 9)});
  EXPECT_EQ(strip.shown(1), "<eot>");
  EXPECT_EQ(strip.shown(2), "<9>");
  EXPECT_EQ(strip.text(), "x");
}

// Whatever the limit, no replacement character, and the text grows by whole characters.
TEST_F(TokenStripTest, AnEmojiCutOverTokensIsSafeAtEveryLimit) {
  const std::string bytes = "a\xF0\x9F\x98\x80z";
  for (std::size_t limit = 1; limit <= bytes.size(); ++limit) {
    strip.clear();
    for (std::size_t i = 0; i < limit; ++i) strip.append(token(std::string(1, bytes[i])));
    EXPECT_FALSE(strip.text().contains(QChar(QChar::ReplacementCharacter))) << limit;
    if (limit < 5) {
      EXPECT_EQ(strip.text(), "a") << limit;
    }
    if (limit == 5) {
      EXPECT_EQ(strip.text(), QString::fromUtf8("a😀"));
    }
    strip.finish();
    if (limit == 3) {
      EXPECT_EQ(strip.text(), "a<0xF0><0x9F>");
    }
  }
  EXPECT_EQ(strip.text(), QString::fromUtf8("a😀z"));
}

TEST_F(TokenStripTest, ALoneByteIsNamed) {
  strip.append({token("\xE2"), token("a")});
  strip.finish();
  EXPECT_EQ(strip.text(), "<0xE2>a");
}

TEST_F(TokenStripTest, ThePromptStandsBeforeAndIsNotText) {
  strip.set_prompt({1, 2}, {"13", " +"});
  strip.append(token("7"));
  EXPECT_EQ(strip.prompt_size(), 2U);
  EXPECT_EQ(strip.size(), 3U);
  EXPECT_EQ(strip.text(), "7");
  EXPECT_TRUE(strip.describe(0).contains("prompt"));
  EXPECT_TRUE(strip.describe(2).contains("id 5"));
  EXPECT_TRUE(strip.describe(2).contains("0.21 ms"));
}

TEST_F(TokenStripTest, ChipsWrapWithoutOverlapAndStayInside) {
  std::mt19937 random(4);
  for (int i = 0; i < 200; ++i) strip.append(token(std::string(1 + random() % 9, 'x')));
  show();
  for (const int width : {90, 240, 700}) {
    strip.resize(width, 200);
    QApplication::processEvents();
    for (int i = 0; i < 200; ++i) {
      const QRect chip = strip.chip_rect(i);
      EXPECT_GE(chip.left(), 0);
      EXPECT_LE(chip.right(), strip.viewport()->width()) << width;
      if (i > 0) {
        EXPECT_TRUE(chip.top() > strip.chip_rect(i - 1).top() || chip.left() >= strip.chip_rect(i - 1).right());
      }
    }
  }
}

TEST_F(TokenStripTest, ANewlineEndsTheLine) {
  strip.append({token("a"), token("\n"), token("b")});
  EXPECT_EQ(strip.chip_rect(0).top(), strip.chip_rect(1).top());
  EXPECT_GT(strip.chip_rect(2).top(), strip.chip_rect(1).top());
}

TEST_F(TokenStripTest, LessLikelyIsStronger) {
  strip.set_mode(engine::DecodeMode::fused);
  strip.append({token("mmmm", 1, -0.01F), token("mmmm", 2, -6.0F)});
  show();
  strip.clearFocus();
  const QImage image = pictures::render(strip);
  const auto corner = [&](int index) { return image.pixelColor(strip.chip_rect(index).topLeft() + QPoint(3, 2)); };
  EXPECT_GT(corner(0).blue(), corner(1).blue() + 40);
  strip.set_color_by(TokenColor::entropy);
  const QImage entropy = pictures::render(strip);
  EXPECT_EQ(entropy.pixelColor(strip.chip_rect(0).topLeft() + QPoint(3, 2)),
            entropy.pixelColor(strip.chip_rect(1).topLeft() + QPoint(3, 2)));
}

TEST_F(TokenStripTest, TextIsReadableOnTheStrongestChipOfEveryMode) {
  for (const Theme* theme : {&light_theme(), &dark_theme()}) {
    for (const auto mode : {engine::DecodeMode::standard, engine::DecodeMode::soft, engine::DecodeMode::fused}) {
      EXPECT_GE(contrast(theme->text, mix(theme->card, mode_color(*theme, mode), 0.46)), 4.5);
    }
    EXPECT_GE(contrast(theme->text, mix(theme->card, theme->warning, 0.22)), 4.5);
  }
}

TEST_F(TokenStripTest, TheFirstDifferenceHasAGroundAndASign) {
  strip.append({token("a"), token("b"), token("c")});
  show();
  strip.clearFocus();
  const int before = strip.chip_rect(1).width();
  const QImage plain = pictures::render(strip);
  strip.set_divergence(1);
  EXPECT_GT(strip.chip_rect(1).width(), before + 8);  // the sign
  EXPECT_TRUE(strip.describe(1).contains("first difference"));
  const Theme& theme = light_theme();
  EXPECT_GT(pictures::pixels_of(pictures::render(strip), mix(theme.card, theme.warning, 0.22), 8),
            pictures::pixels_of(plain, mix(theme.card, theme.warning, 0.22), 8) + 100);
  strip.set_divergence(std::nullopt);
  EXPECT_EQ(strip.chip_rect(1).width(), before);
}

TEST_F(TokenStripTest, KeysMoveTheCursorAndCopy) {
  for (int i = 0; i < 60; ++i) strip.append(token("tok", i));
  show();
  QSignalSpy moved(&strip, &TokenStrip::current_changed);
  QTest::keyClick(&strip, Qt::Key_Home);
  EXPECT_EQ(strip.current(), 0);
  QTest::keyClick(&strip, Qt::Key_Right);
  QTest::keyClick(&strip, Qt::Key_Down);
  const int below = strip.current();
  EXPECT_GT(strip.chip_rect(below).top(), strip.chip_rect(1).top());
  EXPECT_EQ(strip.chip_rect(below).left(), strip.chip_rect(1).left());
  QTest::keyClick(&strip, Qt::Key_End);
  EXPECT_EQ(strip.current(), 59);
  EXPECT_TRUE(strip.viewport()->rect().contains(strip.chip_rect(59)));  // scrolled into view
  EXPECT_TRUE(strip.accessibleDescription().contains("id 59"));
  EXPECT_GE(moved.count(), 3);
  QTest::keyClick(&strip, Qt::Key_C, Qt::ControlModifier);
  EXPECT_EQ(QApplication::clipboard()->text(), strip.text());
}

TEST_F(TokenStripTest, HoverTellsIdProbabilityEntropyAndTime) {
  strip.append({token("a", 11), token("b", 12)});
  show();
  const QPoint at = strip.chip_rect(1).center();
  QHelpEvent event(QEvent::ToolTip, at, strip.viewport()->mapToGlobal(at));
  QApplication::sendEvent(strip.viewport(), &event);
  EXPECT_TRUE(QToolTip::text().contains("id 12"));
  EXPECT_TRUE(QToolTip::text().contains("entropy 0.8"));
}

TEST_F(TokenStripTest, StreamingFollowsTheEndUnlessScrolledAway) {
  show();
  for (int i = 0; i < 300; ++i) strip.append(token("word", i));
  EXPECT_EQ(strip.verticalScrollBar()->value(), strip.verticalScrollBar()->maximum());
  strip.verticalScrollBar()->setValue(10);
  strip.append(token("more"));
  EXPECT_EQ(strip.verticalScrollBar()->value(), 10);
}

TEST_F(TokenStripTest, ThousandsOfTokensStayFast) {
  show();
  CpuTimer timer;
  for (int i = 0; i < 10'000; ++i) strip.append(token(" word", i));
  EXPECT_LT(timer.elapsed(), 2000);
  timer.restart();
  for (int i = 0; i < 10; ++i) pictures::render(strip);
  EXPECT_LT(timer.elapsed(), 1000);
}

}  // namespace
