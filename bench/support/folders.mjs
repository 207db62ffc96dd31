// Lets the user of a database into its folder. Benches run as root where no other user exists.
import { chmodSync, statSync } from 'node:fs'

/** Adds permission for all users to read and enter a folder, and removes none: a folder above a given one may be /tmp. */
export const letPass = (folder) => chmodSync(folder, (statSync(folder).mode & 0o7777) | 0o055)
