#include "widgets/figure_export.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <QApplication>
#include <QClipboard>
#include <QFile>
#include <QFileInfo>
#include <QImage>
#include <QLocale>
#include <QMimeData>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <QXmlStreamReader>
#include <cmath>
#include <csignal>
#include <random>

#include "engine/error.h"
#include "pictures.h"
#include "widgets/heatmap.h"
#include "widgets/plot.h"
#include "widgets/token_strip.h"

namespace {

using namespace widgets;

const FigureMetadata kMetadata = {
    {"run", "a1b2c3"}, {"step", "900"}, {"seed", "7"}, {"config", "0123456789abcdef"}, {"version", "0.1.0"}};

Series noisy(const char* label, int count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, 0.2);
  Series series;
  series.label = label;
  series.style.role = Role::pass;
  series.style.pass = static_cast<int>(seed);
  for (int i = 0; i < count; ++i) {
    series.x.push_back(i);
    series.y.push_back(std::exp(-i / 300.0) + 0.3 + noise(random));
  }
  return series;
}

class FigureTest : public ::testing::Test {
 protected:
  FigureTest() {
    plot.resize(700, 300);
    plot.set_title("Training loss by pass");
    plot.set_axes("step", "loss (nats)");
    plot.set_series({noisy("pass 1", 900, 1), noisy("pass 2", 900, 2)});
    options.metadata = kMetadata;
  }
  QString path(const char* name) const { return folder.path() + "/" + name; }
  static QByteArray read(const QString& file) {
    QFile in(file);
    return in.open(QIODevice::ReadOnly) ? in.readAll() : QByteArray();
  }
  static QString run(const QString& program, const QStringList& arguments) {
    QProcess process;
    process.start(program, arguments);
    process.waitForFinished();
    return QString::fromUtf8(process.readAllStandardOutput());
  }

  Plot plot;
  FigureOptions options;
  QTemporaryDir folder;
};

TEST_F(FigureTest, APdfHoldsTitleLegendAxesUnitsAndWhereItCameFrom) {
  options.caption = true;
  export_figure(plot, options, path("figure.pdf"));
  const QString text = run("pdftotext", {"-layout", path("figure.pdf"), "-"});
  for (const char* wanted : {"Training loss by pass", "pass 1", "pass 2", "step", "loss (nats)", "seed 7", "a1b2c3"}) {
    EXPECT_TRUE(text.contains(QLatin1String(wanted))) << wanted << " in:\n" << text.toStdString();
  }
  const QString information = run("pdfinfo", {path("figure.pdf")});
  EXPECT_TRUE(information.contains("config 0123456789abcdef")) << information.toStdString();
  EXPECT_TRUE(information.contains("Pages:           1"));
  const QRegularExpressionMatch size = QRegularExpression("Page size: +([0-9.]+) x ([0-9.]+)").match(information);
  EXPECT_NEAR(size.captured(1).toDouble() * 25.4 / 72, 160, 0.5);
  EXPECT_NEAR(size.captured(2).toDouble() * 25.4 / 72, 90, 0.5);
}

// All numbers of a path or points attribute, as coordinates.
std::vector<QPointF> points_of(const QString& text) {
  std::vector<double> numbers;
  static const QRegularExpression number("-?[0-9]+\\.?[0-9]*(e-?[0-9]+)?");
  for (auto match = number.globalMatch(text); match.hasNext();) numbers.push_back(match.next().captured().toDouble());
  std::vector<QPointF> points;
  for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) points.emplace_back(numbers[i], numbers[i + 1]);
  return points;
}

QTransform transform_of(const QString& text) {
  const QRegularExpressionMatch match = QRegularExpression("matrix\\(([^)]*)\\)").match(text);
  const QStringList m = match.captured(1).split(',');
  if (m.size() != 6) return {};
  return QTransform(m[0].toDouble(), m[1].toDouble(), m[2].toDouble(), m[3].toDouble(), m[4].toDouble(),
                    m[5].toDouble());
}

// Walks the drawing and returns every vertex, in the picture's coordinates.
std::vector<QPointF> vertices(const QByteArray& svg) {
  std::vector<QPointF> all;
  std::vector<QTransform> stack = {QTransform()};
  QXmlStreamReader reader(svg);
  while (!reader.atEnd()) {
    reader.readNext();
    if (reader.isEndElement()) stack.pop_back();
    if (!reader.isStartElement()) continue;
    const auto attributes = reader.attributes();
    stack.push_back(transform_of(attributes.value("transform").toString()) * stack.back());
    for (const char* name : {"d", "points"}) {
      for (const QPointF& point : points_of(attributes.value(QLatin1String(name)).toString())) {
        all.push_back(stack.back().map(point));
      }
    }
  }
  EXPECT_FALSE(reader.hasError()) << reader.errorString().toStdString();
  return all;
}

TEST_F(FigureTest, NothingInAnSvgIsOutsideAfterZooming) {
  Series band = noisy("spread", 900, 3);
  for (const double y : band.y) {
    band.low.push_back(y - 1);
    band.high.push_back(y + 1);
  }
  band.spread = Spread::band;
  Series bars = band;
  bars.spread = Spread::bars;
  bars.label = "bars";
  plot.set_series({noisy("pass 1", 900, 1), band, bars});
  plot.set_regions({{-1000, 5000, "exact"}});
  plot.zoom_to({300.5, 320.25}, {0.45, 0.6});
  options.format = FigureFormat::svg;
  const QByteArray svg = render_figure(plot, options);
  const QRegularExpressionMatch box = QRegularExpression("viewBox=\"0 0 ([0-9.]+) ([0-9.]+)\"").match(svg);
  const QRectF inside = QRectF(0, 0, box.captured(1).toDouble(), box.captured(2).toDouble()).adjusted(-1, -1, 1, 1);
  ASSERT_GT(inside.width(), 500) << svg.left(400).toStdString();
  const std::vector<QPointF> points = vertices(svg);
  EXPECT_GT(points.size(), 100U);
  for (const QPointF& point : points) EXPECT_TRUE(inside.contains(point)) << point.x() << " " << point.y();
}

TEST_F(FigureTest, AnSvgHasTextAndMetadata) {
  options.format = FigureFormat::svg;
  const QString svg = QString::fromUtf8(render_figure(plot, options));
  for (const char* wanted : {"Training loss by pass", "pass 2", "loss (nats)", "config 0123456789abcdef"}) {
    EXPECT_TRUE(svg.contains(QLatin1String(wanted))) << wanted;
  }
}

TEST_F(FigureTest, APngHasItsSizeResolutionMetadataAndTheLightTheme) {
  const pictures::UseTheme use(dark_theme());
  plot.show();
  options.format = FigureFormat::png;
  options.width_mm = 85;
  options.height_mm = 60;
  const QImage image = QImage::fromData(render_figure(plot, options), "PNG");
  EXPECT_EQ(image.size(), QSize(1004, 709));
  EXPECT_NEAR(image.dotsPerMeterX() * 0.0254, 300, 0.5);
  EXPECT_EQ(image.text("run"), "a1b2c3");
  EXPECT_EQ(image.pixelColor(3, 3), light_theme().card);
  EXPECT_GT(pictures::pixels_of(image, light_theme().pass2), 1000);
  pictures::keep(image, "export-column");
}

TEST_F(FigureTest, CsvHoldsAll14000PointsInTheCLocale) {
  const QLocale before;
  QLocale::setDefault(QLocale(QLocale::German));
  Series series = noisy("pass 1", 14'000, 1);
  series.y[17] = std::nan("");
  plot.set_series({series});
  plot.zoom_x_to({10, 20});
  options.format = FigureFormat::csv;
  const QList<QByteArray> lines = render_figure(plot, options).split('\n');
  QLocale::setDefault(before);
  EXPECT_EQ(lines[0], "# run: a1b2c3");
  EXPECT_EQ(lines[5], "series,step,loss (nats)");
  ASSERT_EQ(lines.size(), 6 + 14'000 + 1);
  for (int i = 0; i < 14'000; i += 999) {
    const QList<QByteArray> cells = lines[6 + i].split(',');
    ASSERT_EQ(cells.size(), 3) << lines[6 + i].toStdString();
    EXPECT_EQ(cells[2].toDouble(), series.y[static_cast<std::size_t>(i)]);
  }
  EXPECT_TRUE(lines[6 + 17].endsWith(",NaN"));
}

TEST_F(FigureTest, CsvQuotesWhatNeedsIt) {
  EXPECT_EQ(to_csv({{"a,b", "c"}, {{"say \"x\"", "1"}}}, {}), "\"a,b\",c\n\"say \"\"x\"\"\",1\n");
}

// Nothing may be renamed over what is not a plain file; a pipe stands for devices here.
TEST_F(FigureTest, ADeviceOrFolderIsRefusedInASentence) {
  const QString pipe = path("pipe.pdf");
  ASSERT_EQ(mkfifo(pipe.toLocal8Bit().constData(), 0600), 0);
  for (const QString& target : {pipe, folder.path()}) {
    try {
      export_figure(plot, options, target);
      FAIL() << target.toStdString() << " was replaced";
    } catch (const engine::FileError& error) {
      EXPECT_NE(std::string(error.what()).find(target.toStdString()), std::string::npos);
    }
  }
  EXPECT_FALSE(QFileInfo(pipe).isFile());
}

TEST_F(FigureTest, AFullDiskLeavesTheOldFile) {
  const QString file = path("old.png");
  options.format = FigureFormat::png;
  export_figure(plot, options, file);
  const QByteArray old = read(file);
  ASSERT_GT(old.size(), 4096);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 1024;
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(export_figure(plot, options, file), engine::FileError);
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(read(file), old);
}

TEST_F(FigureTest, NonAsciiFoldersWork) {
  const QString file = folder.path() + QString::fromUtf8("/模型 ünï.svg");
  options.format = FigureFormat::svg;
  export_figure(plot, options, file);
  EXPECT_GT(read(file).size(), 1000);
}

TEST_F(FigureTest, TheClipboardGetsAPictureAndSvg) {
  copy_figure(plot, options);
  const QMimeData* data = QApplication::clipboard()->mimeData();
  EXPECT_TRUE(data->hasImage());
  EXPECT_TRUE(data->data("image/svg+xml").contains("<svg"));
}

TEST_F(FigureTest, EverySourceExportsInEveryFormatAndSize) {
  Heatmap heat;
  heat.set_title("Update norm");
  heat.set_axes("position t", "pass k", "norm");
  heat.set_log(true);
  heat.set_matrix({2, 3, {0, 1, 2, 3, std::nan(""), 5}});
  TokenStrip strip;
  engine::Rollout rollout;
  rollout.prompt_tokens = {1, 2};
  rollout.prompt_bytes = {"1", " +"};
  for (int i = 0; i < 300; ++i) rollout.tokens.push_back({i, " token", -0.01F * static_cast<float>(i), 0.5F, 0.2});
  strip.set_rollout(rollout);
  for (const FigureSource* source : std::initializer_list<const FigureSource*>{&plot, &heat, &strip}) {
    for (const FigureSize& size : figure_sizes()) {
      for (const FigureFormat format : {FigureFormat::pdf, FigureFormat::svg, FigureFormat::png, FigureFormat::csv}) {
        options.format = format;
        options.width_mm = size.width_mm;
        options.height_mm = size.height_mm;
        options.dpi = 100;
        EXPECT_GT(render_figure(*source, options).size(), 100) << source->figure_title().toStdString();
      }
    }
    options.dpi = 200;
    pictures::keep(render_image(*source, options), "export-" + source->figure_title().section(' ', 0, 0).toStdString());
  }
  EXPECT_EQ(heat.figure_table().rows.size(), 6U);
  EXPECT_EQ(strip.figure_table().rows.size(), 302U);
}

}  // namespace
