// A working day of two coding agents on two projects, call by call. Requests are like those of real sessions, and each
// answer is returned with its subject. A test checks the answers by rules (test/contracts/endpoint/working-day.ts);
// `node bench/day/run.mjs` counts their tokens.

/** Words in every text of one project and in none of the other. */
export const MARKS = { ferry: 'quayside', kiln: 'stoneware' }

/** @typedef {'ada' | 'bob'} Agent */
/** @typedef {'ferry' | 'kiln'} Project */
/** @typedef {(agent: Agent, tool: string, args: Record<string, unknown>) => Promise<any>} Ask the structured answer, also of an error */
/** @typedef {{ agent: Agent, project: Project, tool: string, args: Record<string, unknown>, answer: any }} Step */

const DECISIONS = {
  ferry: [
    [
      'Bookings are held for ten minutes',
      'Bookings on the quayside board are held for ten minutes, then the seat is free again. Longer holds blocked the 08:15 in May.',
    ],
    [
      'Money is an integer number of cents',
      'All quayside prices are integers of euro cents. Floats lost a cent a hundred bookings in the export to the harbour office.',
    ],
    [
      'Sessions live in the database',
      'Customer sessions of the quayside shop moved from signed cookies to the sessions table, so that the office can end one at once.',
    ],
    [
      'Timetables are plain JSON in the repository',
      'Quayside timetables stay JSON files under data/timetables, reviewed as code; the admin page only shows them.',
    ],
    [
      'Retries use the key of the booking',
      'A quayside payment is retried with the id of the booking as idempotency key; the bank then charges once.',
    ],
  ],
  kiln: [
    [
      'Glaze recipes are versioned',
      'A stoneware glaze recipe is never changed in place: a new version refers to the old one, since a firing names its version.',
    ],
    [
      'Temperatures are stored in kelvin',
      'Stoneware firing curves keep kelvin as floats; Fahrenheit is only shown to the American studio.',
    ],
    [
      'The kiln is polled every twenty seconds',
      'The controller of the stoneware kiln answers at most three times a minute; faster polling made it drop the schedule.',
    ],
    ['Orders close on Thursdays', 'Stoneware orders close on Thursday noon, so that the clay is mixed by Friday.'],
    [
      'One worker drives one kiln',
      'Each stoneware kiln has a worker process of its own; a shared queue once sent the ramp of kiln 2 to kiln 1.',
    ],
  ],
}
const PATTERNS = {
  ferry: {
    code: 'export const inCents = (euros: string): number => Math.round(Number(euros) * 100)',
    language: 'typescript',
    filePath: 'src/money.ts',
  },
  kiln: {
    code: 'def kelvin(celsius: float) -> float:\n    return celsius + 273.15',
    language: 'python',
    filePath: 'kiln/units.py',
  },
}
const ERRORS = {
  ferry: {
    command: 'npm test',
    output:
      "FAIL src/booking.test.ts\nTypeError: Cannot read properties of undefined (reading 'seat') at hold (src/booking.ts:42:11) on the quayside board",
    line: "TypeError: Cannot read properties of undefined (reading 'seat')",
    fix: "TypeError reading 'seat' of undefined in hold(): the quayside board was read before the sailing was loaded; await loadSailing() first in src/booking.ts.",
    file: 'src/booking.ts',
  },
  kiln: {
    command: 'pytest',
    output:
      'FAILED tests/test_ramp.py::test_hold - TimeoutError: controller did not answer within 5 s (stoneware kiln 2)',
    line: 'TimeoutError: controller did not answer within 5 s',
    fix: 'TimeoutError, the controller did not answer within 5 s: the stoneware kiln allows three requests a minute; wait 20 s between polls in kiln/controller.py.',
    file: 'kiln/controller.py',
  },
}
const FILES = {
  ferry: {
    path: 'src/booking.ts',
    content:
      '/** Holds a seat on the quayside board. */\nexport async function holdSeat(sailing: string, seat: number): Promise<void> {\n  const board = await loadSailing(sailing)\n  board.hold(seat, 10 * 60_000)\n}\n',
  },
  kiln: {
    path: 'kiln/controller.py',
    content:
      '"""Talks to the controller of a stoneware kiln."""\n\nclass Controller:\n    def ramp(self, kelvin: float) -> None:\n        """Sends one step of a firing curve."""\n        self.port.write(kelvin)\n',
  },
}
const QUESTIONS = {
  ferry: [
    'how long is a seat held',
    'how do we store prices',
    'why can the office end a session',
    'is a payment charged twice',
  ],
  kiln: [
    'how often may we ask the controller',
    'which unit are temperatures in',
    'may a glaze recipe be changed',
    'when do orders close',
  ],
}

/**
 * @param {Ask} ask
 * @param {(project: Project) => string} keyOf the key of a project
 * @returns {Promise<Step[]>}
 */
export async function playDay(ask, keyOf) {
  /** @type {Step[]} */
  const steps = []
  for (const [agent, project] of /** @type {[Agent, Project][]} */ ([
    ['ada', 'ferry'],
    ['bob', 'kiln'],
  ])) {
    const other = agent === 'ada' ? 'bob' : 'ada'
    const projectPath = keyOf(project)
    const session = `${agent}-${project}`
    const call = async (tool, args, who = agent) => {
      const answer = await ask(who, tool, args)
      steps.push({ agent: who, project, tool, args, answer })
      return answer
    }
    const report = (type, payload, who = agent) =>
      call(
        'context_reportEvent',
        {
          event: {
            type,
            payload,
            timestamp: '2026-11-20T08:00:00Z',
            sessionId: session,
            cliType: 'claude-code',
            projectPath,
          },
        },
        who,
      )
    const { command, output, line, fix, file } = ERRORS[project]

    // The morning: start, store decisions, search the code.
    await call('context_orient', { projectPath, sessionId: session, timezone: 'Europe/Lisbon' })
    await report('session_start', {})
    const ids = []
    for (const [title, content] of DECISIONS[project])
      ids.push(
        (
          await call('context_store', {
            type: 'decision',
            content,
            metadata: { projectPath, title, tags: ['settled'] },
          })
        ).id,
      )
    await call('context_store', {
      ...{ type: 'code_pattern', content: `How units are converted here (${MARKS[project]})`, layer: 2 },
      metadata: { projectPath, codeBlock: PATTERNS[project], title: 'Conversion of units' },
    })
    await report('file_opened', FILES[project])
    await call('context_searchCode', {
      query: project === 'ferry' ? 'hold a seat' : 'send a step of a curve',
      projectPath,
    })
    await call('context_searchCode', {
      query: project === 'ferry' ? 'holdSeat' : 'Controller',
      mode: 'symbol',
      projectPath,
    })

    // An error occurs; the other agent solves it and reports how.
    await report('command_executed', { command, output, exitCode: 1 })
    await report('error_occurred', { error: line, file })
    await call(
      'context_store',
      {
        type: 'bug_fix',
        content: fix,
        metadata: { projectPath, title: `Fixed: ${line.split(':')[0]}`, fileContext: { path: file } },
      },
      other,
    )

    // The afternoon: questions, a summary of the current state, the same failure again.
    for (const query of QUESTIONS[project]) await call('context_recall', { query, filter: { projectPath } })
    await call('context_getCurrent', { projectPath, sessionId: session, currentFile: file, currentCommand: command })
    const again = await report('error_occurred', { error: line, file })
    await call('context_get', { memoryId: again.similar?.[0]?.id ?? ids[0], projectPath })
    await call('context_recall', { query: line, filter: { projectPath } }, other)
    await call('context_list', { projectPath, limit: 20 })
    await call('context_list', { projectPath, stats: true })
    await call('context_searchCode', { query: MARKS[project], mode: 'text', projectPath })
    await call('context_update', { memoryId: ids[0], metadata: { reviewed: 'Friday' }, projectPath })
    await call('context_orient', { projectPath, sessionId: `${other}-${project}`, timezone: 'UTC' }, other)
    await call('context_recall', {
      query: 'a question about something else entirely: orbital mechanics of comets',
      filter: { projectPath },
    })
    await call('context_delete', { memoryId: ids[3], projectPath })
    await report('session_end', {})
  }
  return steps
}

/** Tokens of an answer, at four characters each (fabric contract §1). */
export const tokensOf = (answer) => Math.ceil(JSON.stringify(answer).length / 4)
