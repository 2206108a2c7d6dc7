#include "app/batch_series.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <cmath>
#include <functional>

#include "widgets/numbers.h"
#include "widgets/palette.h"

namespace app {

namespace {

using engine::DecodeMode;
using widgets::NumberCell;
using widgets::NumberRow;

constexpr double kNotableP = 0.05;

QString tr(const char* text) { return QCoreApplication::translate("BatchPage", text); }

widgets::SeriesStyle mode_style(DecodeMode mode) {
  widgets::SeriesStyle style;
  style.role = mode == DecodeMode::standard ? widgets::Role::standard
               : mode == DecodeMode::soft   ? widgets::Role::soft
                                            : widgets::Role::fused;
  style.smooth = false;
  return style;
}

widgets::Series mode_curve(DecodeMode mode) {
  widgets::Series series;
  series.label = widgets::mode_name(mode).toStdString();
  series.style = mode_style(mode);
  return series;
}

void add_share(widgets::Series& series, double x, const engine::Estimate& share) {
  const double error = std::isfinite(share.error) ? share.error : 0;
  series.style.markers = true;
  series.spread = widgets::Spread::bars;
  series.x.push_back(x);
  series.y.push_back(100 * share.value);
  series.low.push_back(100 * (share.value - error));
  series.high.push_back(100 * (share.value + error));
}

NumberCell number(double value, int decimals) {
  return {QString::number(value, 'f', decimals), widgets::exact_number(value)};
}

NumberCell count(std::int64_t value) { return {widgets::count_text(value), QString::number(value)}; }

/// One row from what each mode has.
NumberRow row_of(const BatchResult& result, const QString& name, const QString& hint,
                 const std::function<NumberCell(const ModeResult&)>& cell) {
  NumberRow row{name, {}, hint};
  for (const ModeResult& mode : result.modes) row.cells.push_back(cell(mode));
  return row;
}

NumberCell interval(const ModeResult& mode) {
  const auto& s = mode.summary;
  return {QStringLiteral("%1–%2").arg(100 * s.accuracy_low, 0, 'f', 1).arg(100 * s.accuracy_high, 0, 'f', 1), {}};
}

NumberCell quartiles(const ModeResult& mode) {
  const auto& s = mode.summary;
  return {QStringLiteral("%1–%2").arg(widgets::short_number(s.tokens_lower_quartile),
                                      widgets::short_number(s.tokens_upper_quartile)),
          {}};
}

/// Answers that were cut, "Soft 12, Fused 3"; empty when none was.
QString cut_answers(const BatchResult& result) {
  QStringList parts;
  for (const ModeResult& mode : result.modes) {
    if (mode.summary.capped > 0)
      parts << tr("%1 of %2").arg(widgets::count_text(mode.summary.capped), widgets::mode_name(mode.mode));
  }
  return parts.join(QStringLiteral(", "));
}

double share_of(const ModeResult& mode, std::int64_t answers) {
  return 100 * static_cast<double>(answers) / static_cast<double>(mode.summary.rows * mode.summary.samples);
}

/// Where the longest finished answer's bin ends.
double end_of_bars(const BatchResult& result) {
  double end = 1;
  for (const ModeResult& mode : result.modes) {
    for (const engine::LengthBin& bin : mode.lengths) {
      if (bin.finished > 0) end = std::max(end, static_cast<double>(bin.last));
    }
  }
  return end;
}

// Each mode has its own part of a bin, so that equal bars do not hide each other.
widgets::Series length_bars(const ModeResult& mode, double from, double to, double end) {
  constexpr double kFilled = 0.9;  // of the bin; the rest keeps bins apart
  widgets::Series bars = mode_curve(mode.mode);
  bars.style.filled = true;
  bars.x.push_back(0.5);
  bars.y.push_back(0);
  for (const engine::LengthBin& bin : mode.lengths) {
    if (bin.finished == 0) continue;
    const double width = kFilled * static_cast<double>(bin.last - bin.first + 1);
    const double left = 0.5 * (static_cast<double>(bin.first + bin.last) - width);
    const double height = share_of(mode, bin.finished);
    bars.x.insert(bars.x.end(), {left + from * width, left + from * width, left + to * width, left + to * width});
    bars.y.insert(bars.y.end(), {0, height, height, 0});
  }
  bars.x.push_back(end + 1.5);
  bars.y.push_back(0);
  return bars;
}

widgets::Series cut_mark(const ModeResult& mode, std::int64_t cap) {
  widgets::Series mark = mode_curve(mode.mode);
  mark.label = tr("%1, cut").arg(widgets::mode_name(mode.mode)).toStdString();
  mark.style.line = false;
  mark.style.markers = true;
  mark.x.push_back(static_cast<double>(cap));
  mark.y.push_back(share_of(mode, mode.summary.capped));
  return mark;
}

QString pair_sentence(const PairResult& pair) {
  const auto& counts = pair.counts;
  const QString first = widgets::mode_name(pair.first);
  const QString second = widgets::mode_name(pair.second);
  if (counts.only_first + counts.only_second == 0)
    return tr("%1 and %2 are right on the same prompts.").arg(first, second);
  const QString numbers = tr("Prompts that one alone gets right: %1 %2, %3 %4 (p = %5)")
                              .arg(first)
                              .arg(counts.only_first)
                              .arg(second)
                              .arg(counts.only_second)
                              .arg(widgets::short_number(counts.p_value, 2));
  return numbers +
         (counts.p_value < kNotableP ? tr(", more than chance would do.") : tr(", no more than chance would do."));
}

}  // namespace

std::vector<widgets::NumberColumn> mode_columns(const BatchResult& result) {
  std::vector<widgets::NumberColumn> columns;
  for (const ModeResult& mode : result.modes) columns.push_back({widgets::mode_name(mode.mode), mode_style(mode.mode)});
  return columns;
}

std::vector<NumberRow> mode_rows(const BatchResult& result) {
  std::vector<NumberRow> rows = {
      row_of(result, tr("right (%)"), tr("Share of right answers, over prompts and samples."),
             [](const ModeResult& mode) { return number(100 * mode.summary.accuracy, 1); }),
      row_of(result, tr("standard error"), tr("Over prompts."),
             [](const ModeResult& mode) { return number(100 * mode.summary.accuracy_error, 1); }),
      row_of(result, tr("95 % interval"), tr("Wilson's, which stays open where every answer is right."), interval)};
  if (result.request.settings.samples > 1) {
    rows.push_back(row_of(result, tr("pass@%1 (%)").arg(result.request.settings.samples),
                          tr("Share of prompts with at least one right answer."),
                          [](const ModeResult& mode) { return number(100 * mode.pass_at_k.back().share.value, 1); }));
  }
  rows.push_back(row_of(result, tr("tokens, median"),
                        tr("Generated tokens, end of text included; cut answers count as cut."),
                        [](const ModeResult& mode) { return number(mode.summary.tokens_median, 1); }));
  rows.push_back(
      row_of(result, tr("tokens, quartiles"), tr("A quarter of the answers lies below, a quarter above."), quartiles));
  rows.push_back(row_of(result, tr("cut at the cap"),
                        tr("Answers that reached %1 tokens: their length says nothing.")
                            .arg(widgets::count_text(result.request.settings.max_tokens)),
                        [](const ModeResult& mode) { return count(mode.summary.capped); }));
  return rows;
}

std::vector<widgets::NumberColumn> pair_columns() {
  return {{tr("both"), {}}, {tr("only first"), {}}, {tr("only second"), {}}, {tr("neither"), {}}, {tr("p"), {}}};
}

std::vector<NumberRow> pair_rows(const BatchResult& result) {
  std::vector<NumberRow> rows;
  for (const PairResult& pair : result.pairs) {
    const auto& counts = pair.counts;
    rows.push_back({tr("%1, %2").arg(widgets::mode_name(pair.first), widgets::mode_name(pair.second)),
                    {count(counts.both),
                     count(counts.only_first),
                     count(counts.only_second),
                     count(counts.neither),
                     {widgets::short_number(counts.p_value, 2), widgets::exact_number(counts.p_value)}},
                    tr("The second is right on %1 ± %2 % more prompts.")
                        .arg(widgets::short_number(100 * counts.difference.value),
                             widgets::short_number(100 * counts.difference.error, 2))});
  }
  return rows;
}

std::vector<widgets::Series> cap_series(const BatchResult& result) {
  std::vector<widgets::Series> all;
  for (const ModeResult& mode : result.modes) {
    all.push_back(mode_curve(mode.mode));
    for (const engine::AccuracyAtCap& at : mode.at_caps)
      add_share(all.back(), static_cast<double>(at.cap), at.accuracy);
  }
  return all;
}

std::vector<widgets::Series> pass_series(const BatchResult& result) {
  std::vector<widgets::Series> all;
  if (result.request.settings.samples < 2) return all;
  for (const ModeResult& mode : result.modes) {
    all.push_back(mode_curve(mode.mode));
    for (const engine::PassAtK& at : mode.pass_at_k) add_share(all.back(), static_cast<double>(at.k), at.share);
  }
  return all;
}

std::vector<widgets::Series> length_series(const BatchResult& result) {
  std::vector<widgets::Series> all;
  std::vector<widgets::Series> cut;
  for (const ModeResult& mode : result.modes) {
    const auto place = static_cast<double>(all.size());
    all.push_back(length_bars(mode, place / static_cast<double>(result.modes.size()),
                              (place + 1) / static_cast<double>(result.modes.size()), end_of_bars(result)));
    if (mode.summary.capped > 0) cut.push_back(cut_mark(mode, result.request.settings.max_tokens));
  }
  all.insert(all.end(), cut.begin(), cut.end());
  return all;
}

widgets::FigureMetadata batch_metadata(const BatchResult& result) {
  const engine::EvaluationSettings& settings = result.request.settings;
  const std::int64_t rows = result.modes.empty() ? 0 : result.modes.front().summary.rows;
  return {{"step", QString::number(result.step)},
          {"prompts of", QString::fromStdString(result.source)},
          {"rows", QString::number(rows)},
          {"samples", QString::number(settings.samples)},
          {"max tokens", QString::number(settings.max_tokens)},
          {"temperature", widgets::exact_number(settings.sampler.temperature)},
          {"fused passes", QString::number(settings.fused_prefill_passes)},
          {"measuring seed", QString::number(settings.sampler.seed)}};
}

std::vector<widgets::Stat> batch_stats(const BatchResult& result) {
  const engine::EvaluationSettings& settings = result.request.settings;
  const std::int64_t rows = result.modes.empty() ? 0 : result.modes.front().summary.rows;
  QString sampler = tr("greedy");
  if (settings.sampler.temperature > 0)
    sampler = tr("temperature %1").arg(widgets::short_number(settings.sampler.temperature));
  return {{tr("run"), QString::fromStdString(result.run), {}},
          {tr("prompts"), tr("%1, %2").arg(QString::fromStdString(result.source), widgets::count_text(rows)),
           tr("Held-out prompts of a task, or the lines of a file.")},
          {tr("answers each, cap"),
           tr("%1, %2 tokens").arg(settings.samples).arg(widgets::count_text(settings.max_tokens)),
           {}},
          {tr("sampler, seed"), tr("%1, %2").arg(sampler).arg(settings.sampler.seed),
           tr("The modes share prompts and random numbers.")}};
}

QString batch_reading(const BatchResult& result) {
  QStringList sentences;
  for (const PairResult& pair : result.pairs) {
    if (pair.first == DecodeMode::standard) sentences << pair_sentence(pair);
  }
  const QString cut = cut_answers(result);
  if (!cut.isEmpty())
    sentences << tr("%1 were cut at %2 tokens: lengths of cut answers say nothing about the model.")
                     .arg(cut, widgets::count_text(result.request.settings.max_tokens));
  return sentences.join(QLatin1Char(' '));
}

}  // namespace app
