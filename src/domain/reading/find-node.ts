import { nameSimilarity } from '../name-similarity'
import { nodesBelow, type OutlineNode } from './outline'

/** Which node of an outline an id means, and which it may have meant. */

/** Whoever asks for a node that is not there is told of a near one; further ones are not compared. */
const MAX_COMPARED = 5000

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
    const near = nameSimilarity(node.id.slice(0, 200), asked)
    if (near > nearest.likeness) nearest = { id: node.id, likeness: near }
  }
  return { nearest: nearest.id }
}
