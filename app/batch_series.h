// How a batch of rollouts is drawn: tables by mode and by pair, accuracy against cap and against samples, lengths.
// Knows no widget.
#pragma once

#include <QString>
#include <vector>

#include "app/batch_measure.h"
#include "widgets/number_table.h"
#include "widgets/series.h"
#include "widgets/stat_table.h"

namespace app {

std::vector<widgets::NumberColumn> mode_columns(const BatchResult& result);
/// Accuracy with its interval, tokens, answers that were cut; a column a mode.
std::vector<widgets::NumberRow> mode_rows(const BatchResult& result);
std::vector<widgets::NumberColumn> pair_columns();
/// A pair of modes a row: right in both, in one alone, in neither, and exact McNemar.
std::vector<widgets::NumberRow> pair_rows(const BatchResult& result);
/// Accuracy in % if every answer had been cut at that many tokens.
std::vector<widgets::Series> cap_series(const BatchResult& result);
/// Share of prompts in % with at least one right answer of k.
std::vector<widgets::Series> pass_series(const BatchResult& result);
/// Share of answers in % by length, as bars side by side; answers that were cut stand apart, as marks at the cap.
std::vector<widgets::Series> length_series(const BatchResult& result);
/// For exported figures.
widgets::FigureMetadata batch_metadata(const BatchResult& result);
std::vector<widgets::Stat> batch_stats(const BatchResult& result);
/// What the numbers say, in two or three sentences; never that answers became shorter.
QString batch_reading(const BatchResult& result);

}  // namespace app
