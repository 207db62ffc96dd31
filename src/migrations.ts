import entries from '../migrations/d1/0001_entries.sql'
import counters from '../migrations/d1/0002_counters.sql'
import fullText from '../migrations/d1/0003_full_text.sql'
import vectors from '../migrations/d1/0004_vectors.sql'
import identity from '../migrations/d1/0005_identity.sql'
import lifeCycle from '../migrations/d1/0006_life_cycle.sql'
import work from '../migrations/d1/0007_work.sql'
import quotas from '../migrations/d1/0008_quotas.sql'
import owners from '../migrations/d1/0009_owners.sql'
import stemmers from '../migrations/d1/0010_stemmers.sql'
import writtenWords from '../migrations/d1/0011_written_words.sql'
import longTexts from '../migrations/d1/0012_long_texts.sql'
import code from '../migrations/d1/0013_code.sql'
import codeQuotas from '../migrations/d1/0014_code_quotas.sql'
import memories from '../migrations/d1/0015_memories.sql'
import lastSeen from '../migrations/d1/0016_last_seen.sql'
import recall from '../migrations/d1/0017_recall.sql'
import changes from '../migrations/d1/0018_changes.sql'
import threadsByUse from '../migrations/d1/0019_threads_by_use.sql'
import unmarkedTexts from '../migrations/d1/0020_unmarked_texts.sql'
import packs from '../migrations/d1/0021_packs.sql'
import changeFeed from '../migrations/d1/0022_change_feed.sql'
import history from '../migrations/d1/0023_history.sql'
import stemmedVectors from '../migrations/d1/0024_stemmed_vectors.sql'
import textsBeside from '../migrations/d1/0025_texts_beside.sql'
import leaving from '../migrations/d1/0026_leaving.sql'
import current from '../migrations/d1/0027_current.sql'
import countedLayers from '../migrations/d1/0028_counted_layers.sql'
import statistics from '../migrations/d1/0029_statistics.sql'
import answers from '../migrations/d1/0030_answers.sql'
import placedVectors from '../migrations/d1/0031_placed_vectors.sql'
import erasing from '../migrations/d1/0032_erasing.sql'
import lastReaders from '../migrations/d1/0033_last_readers.sql'
import patternPlaces from '../migrations/d1/0034_pattern_places.sql'
import beginnings from '../migrations/d1/0035_beginnings.sql'
import ways from '../migrations/d1/0036_ways.sql'
import circleEnds from '../migrations/d1/0037_circle_ends.sql'
import textsAhead from '../migrations/d1/0038_texts_ahead.sql'
import mergedWords from '../migrations/d1/0039_merged_words.sql'
import largeMetadata from '../migrations/d1/0040_large_metadata.sql'
import nearness from '../migrations/d1/0041_nearness.sql'
import keptLinks from '../migrations/d1/0042_kept_links.sql'
import turns from '../migrations/d1/0043_turns.sql'
import countedAtOnce from '../migrations/d1/0044_counted_at_once.sql'
import boundedAudit from '../migrations/d1/0045_bounded_audit.sql'
import metAgain from '../migrations/d1/0046_met_again.sql'
import type { Migration } from './adapters/d1/migrate'

/** The D1 migrations that are bundled with this Worker, in order. */
export const D1_MIGRATIONS: readonly Migration[] = [
  { name: '0001_entries.sql', sql: entries },
  { name: '0002_counters.sql', sql: counters },
  { name: '0003_full_text.sql', sql: fullText },
  { name: '0004_vectors.sql', sql: vectors },
  { name: '0005_identity.sql', sql: identity },
  { name: '0006_life_cycle.sql', sql: lifeCycle },
  { name: '0007_work.sql', sql: work },
  { name: '0008_quotas.sql', sql: quotas },
  { name: '0009_owners.sql', sql: owners },
  { name: '0010_stemmers.sql', sql: stemmers },
  { name: '0011_written_words.sql', sql: writtenWords },
  { name: '0012_long_texts.sql', sql: longTexts },
  { name: '0013_code.sql', sql: code },
  { name: '0014_code_quotas.sql', sql: codeQuotas },
  { name: '0015_memories.sql', sql: memories },
  { name: '0016_last_seen.sql', sql: lastSeen },
  { name: '0017_recall.sql', sql: recall },
  { name: '0018_changes.sql', sql: changes },
  { name: '0019_threads_by_use.sql', sql: threadsByUse },
  { name: '0020_unmarked_texts.sql', sql: unmarkedTexts },
  { name: '0021_packs.sql', sql: packs },
  { name: '0022_change_feed.sql', sql: changeFeed },
  { name: '0023_history.sql', sql: history },
  { name: '0024_stemmed_vectors.sql', sql: stemmedVectors },
  { name: '0025_texts_beside.sql', sql: textsBeside },
  { name: '0026_leaving.sql', sql: leaving },
  { name: '0027_current.sql', sql: current },
  { name: '0028_counted_layers.sql', sql: countedLayers },
  { name: '0029_statistics.sql', sql: statistics },
  { name: '0030_answers.sql', sql: answers },
  { name: '0031_placed_vectors.sql', sql: placedVectors },
  { name: '0032_erasing.sql', sql: erasing },
  { name: '0033_last_readers.sql', sql: lastReaders },
  { name: '0034_pattern_places.sql', sql: patternPlaces },
  { name: '0035_beginnings.sql', sql: beginnings },
  { name: '0036_ways.sql', sql: ways },
  { name: '0037_circle_ends.sql', sql: circleEnds },
  { name: '0038_texts_ahead.sql', sql: textsAhead },
  { name: '0039_merged_words.sql', sql: mergedWords },
  { name: '0040_large_metadata.sql', sql: largeMetadata },
  { name: '0041_nearness.sql', sql: nearness },
  { name: '0042_kept_links.sql', sql: keptLinks },
  { name: '0043_turns.sql', sql: turns },
  { name: '0044_counted_at_once.sql', sql: countedAtOnce },
  { name: '0045_bounded_audit.sql', sql: boundedAudit },
  { name: '0046_met_again.sql', sql: metAgain },
]
