// May the user that a database runs as come to its folder? Benches run as root where there is nobody else.
import { chmodSync, statSync } from 'node:fs'

/** Lets everybody read a folder and pass it, and takes nothing from what it allows: a folder above a given one may be /tmp. */
export const letPass = (folder) => chmodSync(folder, (statSync(folder).mode & 0o7777) | 0o055)
