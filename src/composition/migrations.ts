import entries from '../../migrations/d1/0001_entries.sql'
import texts from '../../migrations/d1/0002_texts.sql'
import links from '../../migrations/d1/0003_links.sql'
import search from '../../migrations/d1/0004_search.sql'
import vectors from '../../migrations/d1/0005_vectors.sql'
import history from '../../migrations/d1/0006_history.sql'
import identity from '../../migrations/d1/0007_identity.sql'
import keeping from '../../migrations/d1/0008_keeping.sql'
import code from '../../migrations/d1/0009_code.sql'
import metAgain from '../../migrations/d1/0010_met_again.sql'
import captured from '../../migrations/d1/0012_captured.sql'
import transfer from '../../migrations/d1/0013_transfer.sql'
import nearInPlace from '../../migrations/d1/0014_near_in_place.sql'
import fewerRows from '../../migrations/d1/0015_fewer_rows.sql'
import fewerRowsOfHooks from '../../migrations/d1/0016_fewer_rows_of_hooks.sql'
import imagesTwice from '../../migrations/d1/0017_images_twice.sql'
import makersOfLinks from '../../migrations/d1/0018_makers_of_links.sql'
import type { Migration } from '../adapters/sqlite/migrations'

/** The D1 migrations that are bundled with this Worker, in order. */
export const D1_MIGRATIONS: readonly Migration[] = [
  { name: '0001_entries.sql', sql: entries },
  { name: '0002_texts.sql', sql: texts },
  { name: '0003_links.sql', sql: links },
  { name: '0004_search.sql', sql: search },
  { name: '0005_vectors.sql', sql: vectors },
  { name: '0006_history.sql', sql: history },
  { name: '0007_identity.sql', sql: identity },
  { name: '0008_keeping.sql', sql: keeping },
  { name: '0009_code.sql', sql: code },
  { name: '0010_met_again.sql', sql: metAgain },
  { name: '0012_captured.sql', sql: captured },
  { name: '0013_transfer.sql', sql: transfer },
  { name: '0014_near_in_place.sql', sql: nearInPlace },
  { name: '0015_fewer_rows.sql', sql: fewerRows },
  { name: '0016_fewer_rows_of_hooks.sql', sql: fewerRowsOfHooks },
  { name: '0017_images_twice.sql', sql: imagesTwice },
  { name: '0018_makers_of_links.sql', sql: makersOfLinks },
]
