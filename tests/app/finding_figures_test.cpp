// A finding's curves as figures, from the table that the command line writes.
#include "app/finding_figures.h"

#include <gtest/gtest.h>

#include <QFile>
#include <QTemporaryDir>
#include <cmath>

#include "app/arguments.h"
#include "engine/error.h"

namespace {

const QByteArray kTable =
    "curve,x axis,y axis,log y,variant,x,seed 1,seed 2,mean,smallest,largest\n"
    "\"Loss by pass\",\"feedback passes\",\"loss (nats)\",1,\"K up to 2\",0,0.4,0.6,0.5,0.4,0.6\n"
    "\"Loss by pass\",\"feedback passes\",\"loss (nats)\",1,\"K up to 2\",1,0.5,0.7,0.6,0.5,0.7\n"
    "\"Loss by pass\",\"feedback passes\",\"loss (nats)\",1,\"wide, \"\"gate\"\"\",0,0.3,nan,nan,nan,nan\n"
    "\"Update norm\",\"feedback pass\",\"norm\",0,\"K up to 2\",1,2,2,2,2,2\n";

void write_table(const QTemporaryDir& folder, const QByteArray& table) {
  QFile file(folder.filePath("curves.csv"));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write(table);
}

TEST(FindingFigures, ReadMeansAndTheirRangeByVariant) {
  const auto figures = app::read_finding_figures(kTable, "curves.csv");
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_EQ(figures[0].title, "Loss by pass");
  EXPECT_EQ(figures[0].y_axis, "loss (nats)");
  EXPECT_TRUE(figures[0].log_y);
  EXPECT_FALSE(figures[1].log_y);
  ASSERT_EQ(figures[0].series.size(), 2U);
  const widgets::Series& first = figures[0].series[0];
  EXPECT_EQ(first.label, "K up to 2");
  EXPECT_EQ(first.x, (std::vector<double>{0, 1}));
  EXPECT_EQ(first.y, (std::vector<double>{0.5, 0.6}));
  EXPECT_EQ(first.low, (std::vector<double>{0.4, 0.5}));
  EXPECT_EQ(first.high, (std::vector<double>{0.6, 0.7}));
  EXPECT_EQ(figures[0].series[1].label, "wide, \"gate\"");
  EXPECT_TRUE(std::isnan(figures[0].series[1].y[0]));
  EXPECT_NE(first.style.run, figures[0].series[1].style.run) << "variants have colours of their own";
}

TEST(FindingFigures, ALineThatIsNoPointIsNamed) {
  try {
    app::read_finding_figures(kTable + "\"Loss by pass\",x,y,0,v,zero,1,1,1,1,1\n", "curves.csv");
    FAIL() << "it was read";
  } catch (const engine::FormatError& error) {
    EXPECT_NE(std::string(error.what()).find("curves.csv: line 6"), std::string::npos) << error.what();
  }
}

TEST(FindingFigures, AreWrittenAsSvgAndPdfAndStaySmall) {
  const QTemporaryDir folder;
  write_table(folder, kTable);
  EXPECT_EQ(app::write_finding_figures(folder.path()), (std::vector<QString>{"loss-by-pass", "update-norm"}));
  for (const char* name : {"loss-by-pass.svg", "loss-by-pass.pdf", "update-norm.svg", "update-norm.pdf"}) {
    QFile file(folder.filePath(name));
    ASSERT_TRUE(file.open(QIODevice::ReadOnly)) << name;
    const QByteArray bytes = file.readAll();
    EXPECT_GT(bytes.size(), 500) << name;
    EXPECT_LT(bytes.size(), 200'000) << name;
    EXPECT_TRUE(bytes.startsWith("%PDF") || bytes.contains("<svg")) << name;
  }
  const QTemporaryDir empty;
  EXPECT_THROW(app::write_finding_figures(empty.path()), engine::FileError);
  QFile nothing(empty.filePath("curves.csv"));
  ASSERT_TRUE(nothing.open(QIODevice::WriteOnly));
  nothing.close();
  EXPECT_THROW(app::write_finding_figures(empty.path()), engine::FormatError) << "a table without a curve";
}

TEST(FindingFigures, AreAskedForOnTheCommandLine) {
  const app::Arguments arguments = app::parse_arguments({"fullband", "--figures", "out/f"});
  EXPECT_EQ(arguments.action, app::Arguments::Action::figures);
  EXPECT_EQ(arguments.figures, "out/f");
  EXPECT_EQ(app::parse_arguments({"fullband", "--figures", ""}).action, app::Arguments::Action::bad);
}

}  // namespace
