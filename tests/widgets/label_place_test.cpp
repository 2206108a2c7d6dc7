#include "widgets/label_place.h"

#include <gtest/gtest.h>

namespace {

using widgets::crosses;
using widgets::free_place;

const QRectF kArea(10, 10, 20, 10);

TEST(LabelPlaceTest, ALineCrossesWhereItComesIn) {
  EXPECT_TRUE(crosses(QPolygonF({{0, 15}, {40, 15}}), kArea));
  EXPECT_TRUE(crosses(QPolygonF({{40, 30}, {0, 0}}), kArea)) << "from right to left";
  EXPECT_TRUE(crosses(QPolygonF({{20, 0}, {20, 40}}), kArea)) << "straight down, no point inside";
  EXPECT_TRUE(crosses(QPolygonF({{15, 12}}), kArea)) << "a lone point";
  EXPECT_FALSE(crosses(QPolygonF({{0, 5}, {40, 5}}), kArea));
  EXPECT_FALSE(crosses(QPolygonF({{0, 15}, {9, 15}}), kArea));
  EXPECT_FALSE(crosses(QPolygonF({{0, 0}, {12, 0}, {40, 60}}), QRectF(10, 30, 5, 5)));
  EXPECT_FALSE(crosses(QPolygonF(), kArea));
}

TEST(LabelPlaceTest, TheLeastCoveredPlaceIsTaken) {
  const std::vector<QRectF> places = {{0, 0, 10, 10}, {0, 20, 10, 10}, {0, 40, 10, 10}};
  EXPECT_EQ(free_place(places, {}, {}), places[0]);
  EXPECT_EQ(free_place(places, {QPolygonF({{-5, 5}, {50, 5}})}, {}), places[1]);
  EXPECT_EQ(free_place(places, {QPolygonF({{-5, 5}, {50, 5}})}, {places[1]}), places[2]);
  EXPECT_EQ(free_place(places, {QPolygonF({{5, -5}, {5, 90}})}, {}), places[0]) << "nothing is free";
  EXPECT_EQ(free_place(places, {QPolygonF({{5, -5}, {5, 90}}), QPolygonF({{-5, 5}, {50, 5}})}, {places[1]}), places[2])
      << "the least covered one";
}

}  // namespace
