import { nodesBelow, type OutlineNode } from './outline'

/** Which node of an outline an id means, and which it may have meant. */

/** Whoever asks for a node that is not there is told of a near one; further ones are not compared. */
const MAX_COMPARED = 5000

/** Of a name, with its ends: pairs of characters, however its accents are written. */
const pairs = (name: string): Set<string> => {
  const whole = ` ${name.normalize('NFC')} `
  return new Set(Array.from({ length: whole.length - 1 }, (_, i) => whole.slice(i, i + 2)))
}

/** How much two names have in common: shared pairs of characters, from 0 to 1. */
function likeness(a: string, b: string): number {
  const [ours, theirs] = [pairs(a), pairs(b)]
  const shared = [...ours].filter((pair) => theirs.has(pair)).length
  return (2 * shared) / Math.max(1, ours.size + theirs.size)
}

/** The node with this id, and where there is none, the id of the one whose name is nearest. */
export function findNode(root: OutlineNode, id: string): { node: OutlineNode } | { nearest: string } {
  if (id === root.id) return { node: root }
  let nearest = { id: root.id, likeness: 0 }
  let compared = 0
  // Ids are in lower case, whatever the headings are in.
  const asked = id.slice(0, 200).toLowerCase()
  for (const node of nodesBelow(root)) {
    if (node.id === id) return { node }
    if (compared++ >= MAX_COMPARED) continue
    const near = likeness(node.id.slice(0, 200), asked)
    if (near > nearest.likeness) nearest = { id: node.id, likeness: near }
  }
  return { nearest: nearest.id }
}
