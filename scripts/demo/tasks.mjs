// Six weeks of four agents' work for a company that sells ferry tickets: for each task the request, findings, decisions and lessons.

/**
 * @typedef {object} Task
 * @property {string} thread
 * @property {'ferry-api' | 'harbor-web' | 'tide-data'} project
 * @property {string} area a tag
 * @property {string} ask the request of a person
 * @property {string} found the first finding of an agent
 * @property {readonly [title: string, text: string]} decision
 * @property {readonly [title: string, text: string]} gotcha
 * @property {string} done the outcome
 */

/** @type {readonly Task[]} */
export const TASKS = [
  {
    thread: 'double-bookings',
    project: 'ferry-api',
    area: 'bookings',
    ask: 'Two families got the same cabin on the 18:40 to Piraeus. How can that happen, and how do we make sure it never does again?',
    found:
      'reserve() reads the free cabins and then inserts the booking in a second statement. Between the two another request can take the same cabin; the load test reproduces it 3 times in 10,000.',
    decision: [
      'A cabin is reserved by one conditional insert',
      'We insert the booking only where no booking of the same cabin and crossing exists, in one statement, and answer 409 when no row was written. No lock table, no queue: the unique index on (crossing_id, cabin_id) is the judge.',
    ],
    gotcha: [
      'The staging database has no unique index',
      'Staging was restored from a dump of March, before the index on (crossing_id, cabin_id). Tests that pass there prove nothing about double bookings; run npm run db:verify first.',
    ],
    done: 'Reservations are one statement now. 200,000 concurrent attempts, no double booking, p95 down from 41 to 18 ms.',
  },
  {
    thread: 'payment-retries',
    project: 'ferry-api',
    area: 'payments',
    ask: 'Customers are charged twice when the payment provider times out. Please find out why our retries are not safe.',
    found:
      'The retry middleware makes a new idempotency key for every attempt, so the provider sees two different payments.',
    decision: [
      'The idempotency key of a payment is the booking id and its attempt of the customer',
      'Keys are derived, never random: booking id plus the number of times the customer pressed Pay. Retries of our own reuse the key, so the provider charges once.',
    ],
    gotcha: [
      'The provider forgets idempotency keys after 24 hours',
      'A retry from the dead letter queue that is older than a day is a new payment for them. The worker must look the payment up first and never replay blindly.',
    ],
    done: 'Derived keys are live; the refund queue has been empty for nine days.',
  },
  {
    thread: 'timetable-import',
    project: 'tide-data',
    area: 'timetables',
    ask: 'The summer timetable of Hellenic Lines has crossings an hour late. Is that us or them?',
    found:
      'Their file has local times without a zone. We read them as UTC, which was right until the change to summer time.',
    decision: [
      'Timetables are read in the zone of the port of departure',
      'Every operator file is read in the zone of the departure port, by Temporal, and stored as an instant plus the zone name. No offsets are stored, because they change twice a year.',
    ],
    gotcha: [
      'Crossings between 03:00 and 04:00 on the last Sunday of October exist twice',
      'In the night of the change back there are two departures at 03:30. The operator marks the second one with an asterisk in the remarks column, nowhere else.',
    ],
    done: 'All 4,112 summer crossings agree with the printed timetable; a check against yesterday’s file runs each night.',
  },
  {
    thread: 'search-latency',
    project: 'ferry-api',
    area: 'search',
    ask: 'Search takes four seconds on Friday evenings. What would it take to get it below 300 ms?',
    found:
      'Nine tenths of the time is one query that joins prices for every crossing of the month and throws most of them away.',
    decision: [
      'Prices of the next 60 days are stored in a flat table',
      'A nightly job writes one row a crossing, day and class. Search reads only that table; beyond 60 days it falls back to the join, which is rare and may take two seconds.',
    ],
    gotcha: [
      'EXPLAIN on the replica lies',
      'The replica has four times the work_mem of the primary, so plans differ. Always measure on the primary with a copy of Friday’s traffic.',
    ],
    done: 'p95 on Friday evening is 210 ms. The flat table is 1.4 GB and takes six minutes to write.',
  },
  {
    thread: 'seat-map',
    project: 'harbor-web',
    area: 'accessibility',
    ask: 'A blind customer could not choose a seat. Can the seat map be used with a screen reader and by keyboard?',
    found:
      'Seats are painted on a canvas. There is no element behind them, so nothing can be focused and nothing is announced.',
    decision: [
      'The seat map is a grid of buttons, not a canvas',
      'Each seat is a button in an ARIA grid with row and seat number in its name; arrow keys move, Enter chooses. The canvas stays as a picture behind it and is hidden from assistive technology.',
    ],
    gotcha: [
      'VoiceOver reads nothing in a grid with 400 cells',
      'Safari stops announcing cells of very large grids. Split the deck into sections of at most 120 seats, each a grid of its own with a heading.',
    ],
    done: 'Tested with NVDA and VoiceOver by two customers; both booked a seat without help.',
  },
  {
    thread: 'checkout-drop-off',
    project: 'harbor-web',
    area: 'checkout',
    ask: 'A third of all customers leave at the passenger form. Find out where and why.',
    found: 'Most leave at the date of birth: on phones the picker opens at today, and 1962 is 63 taps away.',
    decision: [
      'Dates of birth are three plain fields',
      'Day, month and year are text fields with numeric keyboards and autocomplete="bday-day" and so on. No picker. Errors are shown next to the field when it loses focus, never while typing.',
    ],
    gotcha: [
      'Autofill writes two-digit years',
      'Some browsers fill 62 instead of 1962. We take the last century for everything above the current year, and show the whole year before the next step.',
    ],
    done: 'Drop-off at the form went from 34 % to 19 % in the first week.',
  },
  {
    thread: 'release-4.2',
    project: 'ferry-api',
    area: 'releases',
    ask: 'We release 4.2 on Tuesday. What is left, and what can go wrong?',
    found: 'Two migrations touch bookings; the second one rewrites the table and would lock it for about four minutes.',
    decision: [
      'Migrations that rewrite bookings run expand first, contract a release later',
      'A new column is added and filled in the background in 4.2, read from 4.3 on, and the old one dropped in 4.4. Nothing in between needs downtime, and every step can be rolled back.',
    ],
    gotcha: [
      'The feature flag service caches for ten minutes',
      'A flag that is switched off is still on for ten minutes in some regions. For a rollback restart the workers; the flag alone is not enough.',
    ],
    done: '4.2 went out on Tuesday at 06:10, without downtime; background fill took 52 minutes.',
  },
  {
    thread: 'refund-rules',
    project: 'ferry-api',
    area: 'payments',
    ask: 'Support needs the refund rules in one place. Today they are in three services and disagree.',
    found:
      'The web front end refunds by calendar days, the API by hours, and the call centre tool ignores the operator altogether.',
    decision: [
      'Refund rules are data of the operator, evaluated by one function',
      'Each operator has a list of (hours before departure, percent). refundFor(booking, now) in packages/rules is the only code that reads it; everything else asks the API.',
    ],
    gotcha: [
      'Cancelled crossings are always refunded in full, whatever the rule says',
      'EU regulation 1177/2010 gives passengers the whole fare back when the operator cancels. The rule must not be asked in that case; it once answered 50 %.',
    ],
    done: 'One function, 64 cases from support as a table test; the three old copies are deleted.',
  },
  {
    thread: 'flaky-e2e',
    project: 'harbor-web',
    area: 'tests',
    ask: 'The end-to-end tests fail every third run. Make them trustworthy or throw them away.',
    found:
      'Eleven of fourteen failures wait for an animation with a fixed sleep; two share a customer account; one is a real bug.',
    decision: [
      'End-to-end tests wait for what a person would see',
      'No sleeps: a test waits for text or a role. Each test makes its own customer by API. Animations are off by prefers-reduced-motion in the test browser.',
    ],
    gotcha: [
      'networkidle never comes on the search page',
      'The price stream keeps a connection open, so waiting for an idle network hangs until the limit. Wait for the first result instead.',
    ],
    done: '300 runs in a row without a failure; the whole suite takes 3:40 instead of 11 minutes.',
  },
  {
    thread: 'gdpr-deletion',
    project: 'ferry-api',
    area: 'privacy',
    ask: 'A customer asks us to delete everything. Can we, and how do we prove it?',
    found: 'Names are in bookings, in invoices (which we must keep ten years), in the search log and in two backups.',
    decision: [
      'Deletion replaces the person by a tombstone, invoices excepted',
      'The customer row becomes a tombstone without a name; bookings keep the tombstone’s id; search logs are cut by the customer’s hash. Invoices stay, locked, for ten years and then go by a job.',
    ],
    gotcha: [
      'Restoring a backup brings deleted customers back',
      'After every restore run scripts/replay-deletions: it reads the ledger of tombstones, which is backed up apart, and deletes them again.',
    ],
    done: 'Deletion takes 40 seconds and writes a receipt that the customer gets by mail.',
  },
  {
    thread: 'observability',
    project: 'ferry-api',
    area: 'operations',
    ask: 'When something is slow we check nine dashboards. I want one page that shows the cause.',
    found: 'Each service logs its own request id; nothing ties a slow page to the query that made it slow.',
    decision: [
      'One trace id from the browser to the database',
      'traceparent is made in the browser, passed on by every service and written as a comment into each SQL statement. The page of a trace shows the slowest span first.',
    ],
    gotcha: [
      'The proxy drops headers it does not know',
      'The load balancer lists allowed headers; traceparent was not in the list. Nothing failed, traces were just one span long.',
    ],
    done: 'Median time to find the cause of an alert fell from 25 to 6 minutes.',
  },
  {
    thread: 'price-rounding',
    project: 'tide-data',
    area: 'prices',
    ask: 'Invoices are a cent off for about one booking in fifty. Accounting is unhappy.',
    found: 'Prices are multiplied as floats and rounded once for each passenger; the invoice rounds the sum.',
    decision: [
      'Money is whole cents, everywhere',
      'Amounts are integers of the smallest unit with a currency. Rates are applied to the sum, rounded half to even, and the rest is given to the first passenger.',
    ],
    gotcha: [
      'The currency of Iceland has no smaller unit',
      'ISK has zero decimals, so 100 is a hundred krónur and not one. Ask the currency table for its exponent; never divide by 100.',
    ],
    done: '1.2 million invoices of last year recomputed: no cent differs.',
  },
  {
    thread: 'offline-tickets',
    project: 'harbor-web',
    area: 'mobile',
    ask: 'There is no reception in the port of Kalymnos. Tickets must open without a network.',
    found: 'The ticket page asks the API for the barcode each time it opens.',
    decision: [
      'Tickets are stored on the device when they are bought',
      'A service worker keeps the ticket page and its barcode as a signed image; it is renewed when there is a network, and shown with the time it was last checked when there is none.',
    ],
    gotcha: [
      'iOS clears the storage of web pages after seven days without a visit',
      'A ticket bought a month ahead is gone on the day of travel. Offer “Add to Wallet” at purchase; that copy stays.',
    ],
    done: 'Opened on twelve phones in flight mode; the harbour staff scanned all of them.',
  },
  {
    thread: 'operator-onboarding',
    project: 'tide-data',
    area: 'operators',
    ask: 'A new operator takes us three weeks. I want it to be three days.',
    found: 'Most of the time goes into mapping their port names and cabin classes by hand, in code.',
    decision: [
      'Operators are described by a file, checked by a schema',
      'operators/<id>.yaml names ports, classes, zone, refund rules and the form of their timetable. npm run operator:check reports every unknown name at once; no code is written for a new one.',
    ],
    gotcha: [
      'Two ports are called Agios Nikolaos',
      'One is on Crete, one near Volos. Match ports by UN/LOCODE; a name alone is accepted only if it is unique.',
    ],
    done: 'Aegean Swift went live in two and a half days, without a line of code.',
  },
  {
    thread: 'queue-backlog',
    project: 'ferry-api',
    area: 'operations',
    ask: 'Confirmation mails were four hours late on Saturday. What happened?',
    found: 'One mail with a 30 MB attachment failed and was retried at the head of the queue 2,000 times.',
    decision: [
      'What fails three times leaves the queue',
      'A message that fails three times goes to a dead letter queue with its reason; the team is alerted once an hour, not once a message. Mails carry links, never attachments.',
    ],
    gotcha: [
      'The queue counts a timeout of the consumer as no attempt',
      'A consumer that is killed leaves the attempt count as it was, so the limit of three never comes. Write the attempt before the work begins.',
    ],
    done: 'Saturday’s load replayed: the longest wait is 41 seconds.',
  },
  {
    thread: 'dark-mode',
    project: 'harbor-web',
    area: 'design',
    ask: 'Night crews asked for a dark mode on the boarding screen.',
    found: 'Colours are written 214 times as hex values in 61 files.',
    decision: [
      'Colors are named by purpose',
      'Eleven custom properties (--surface, --ink, --line, --accent …) replace all hex values; dark mode sets other values for them. A lint rule refuses hex colours outside tokens.css.',
    ],
    gotcha: [
      'The boarding scanners invert colours themselves',
      'The Zebra TC52 has an own night mode that inverts our dark page to a glaring white one. We detect its user agent and keep to light there.',
    ],
    done: 'Crews on three ships use it; contrast is at least 4.5 everywhere, checked in CI.',
  },
  {
    thread: 'api-versioning',
    project: 'ferry-api',
    area: 'api',
    ask: 'Partners break when we change the API. How should we version it?',
    found: 'Seven partners read members that we never documented, two parse our error texts.',
    decision: [
      'The API is versioned by date, in a header',
      'Partners send Ferry-Version: 2026-10-01. Each change has a small module that turns today’s answer into that of the day before; versions live for two years. Error texts are free to change, codes are not.',
    ],
    gotcha: [
      'A cache in front of the API must vary by the version header',
      'Without Vary: Ferry-Version one partner got the answers of another. It took two days to see, because it only happened on a cache hit.',
    ],
    done: 'Four versions are live; the oldest partner did not have to change anything.',
  },
  {
    thread: 'crossing-delays',
    project: 'tide-data',
    area: 'timetables',
    ask: 'Can we tell customers about a delay before the operator does?',
    found: 'Ship positions by AIS are public and come every ten seconds; the operator’s feed is 20 minutes behind.',
    decision: [
      'A delay is announced when two positions agree',
      'We predict the arrival from position and speed over the last ten minutes. A delay above 15 minutes is announced when two predictions five minutes apart agree, and withdrawn the same way.',
    ],
    gotcha: [
      'AIS is off in the strait of Kafireas',
      'Masters switch it off in bad weather there. No position for 30 minutes means nothing; do not predict from the last one.',
    ],
    done: 'Delays are announced 17 minutes earlier in the median, with two false alarms in October.',
  },
  {
    thread: 'image-pipeline',
    project: 'harbor-web',
    area: 'performance',
    ask: 'The home page weighs 9 MB on a phone. Bring it below 1.',
    found: 'Eight photographs of ships are sent as PNG in their original size.',
    decision: [
      'Pictures are served as AVIF in four widths',
      'A build step makes AVIF and JPEG in 480, 960, 1440 and 1920 pixels; the page names all in srcset with sizes. Everything below the fold loads lazily.',
    ],
    gotcha: [
      'Largest Contentful Paint must not be lazy',
      'With loading="lazy" on the first picture LCP went up by 900 ms. The first one is eager with fetchpriority="high".',
    ],
    done: '640 KB on a phone, LCP 1.4 s on 4G.',
  },
  {
    thread: 'secrets-rotation',
    project: 'ferry-api',
    area: 'security',
    ask: 'The payment key has not been changed for two years. Rotate it without an outage.',
    found: 'It is in four places; one of them is a forgotten cron job on an old machine.',
    decision: [
      'Every secret has two live values while it changes',
      'Services accept the old and the new value for a day; senders switch in between. The inventory in ops/secrets.md names each secret, its owner and where it is read. Rotation is rehearsed each quarter.',
    ],
    gotcha: [
      'The provider’s dashboard shows keys in UTC, ours in local time',
      'The old key ended two hours earlier than we had noted. Write the instant with its zone into the ticket.',
    ],
    done: 'Rotated on a Wednesday noon; no request failed.',
  },
  {
    thread: 'onboarding-docs',
    project: 'ferry-api',
    area: 'docs',
    ask: 'It takes new developers two days until the first test runs. Make that an hour.',
    found: 'The guide names a database version that is no longer installable and skips the seed data.',
    decision: [
      'One command sets up everything: npm run dev',
      'It starts the database in a container, migrates, seeds 500 bookings and opens the page. CI runs the guide’s commands each night, so that they cannot rot.',
    ],
    gotcha: [
      'On Apple silicon the old seed image runs emulated',
      'The seed took 14 minutes under emulation. Use the multi-arch tag; the digest in compose.yaml pins it.',
    ],
    done: 'Two new colleagues had tests running after 22 and 31 minutes.',
  },
  {
    thread: 'group-bookings',
    project: 'ferry-api',
    area: 'bookings',
    ask: 'A school wants to book 84 seats. The form allows nine.',
    found: 'The limit of nine comes from the payment provider’s line items, not from us.',
    decision: [
      'Groups are one line with a quantity',
      'From ten passengers on the invoice has one line a class with a quantity. Names may come later, up to 48 hours before departure, by an upload that reports all errors at once.',
    ],
    gotcha: [
      'The manifest must hold every name, by law',
      'A crossing may not leave with unnamed passengers. The upload closes at 48 hours so that the harbour office can check; the captain’s list is made from it.',
    ],
    done: 'The school booked in eleven minutes; 37 other groups since.',
  },
  {
    thread: 'test-data',
    project: 'tide-data',
    area: 'tests',
    ask: 'Tests use a copy of real customers. That has to stop.',
    found: 'The nightly dump is anonymised by name only; e-mail and phone numbers pass through.',
    decision: [
      'Test data are made, never copied',
      'A generator makes customers, bookings and crossings from a seed; the same seed gives the same data. It knows the odd cases: two surnames, a single name, 110 years, right-to-left names, emoji.',
    ],
    gotcha: [
      'Generated phone numbers ring real people',
      'Random Greek mobile numbers are assigned. Use the ranges reserved for fiction (+44 7700 900xxx), also in screenshots.',
    ],
    done: 'No test reads a customer any more; the copy and its backups are deleted.',
  },
  {
    thread: 'boarding-scanner',
    project: 'harbor-web',
    area: 'mobile',
    ask: 'Scanning takes three seconds a ticket, and the queue reaches the road.',
    found: 'Each scan waits for the API to confirm before the next one can start.',
    decision: [
      'The scanner checks signatures itself',
      'Tickets carry an Ed25519 signature. The scanner checks it against today’s public keys without a network, records the ticket, and syncs with the server later; a ticket scanned twice is reported as soon as both scanners have synced.',
    ],
    gotcha: [
      'Clocks of scanners are minutes off',
      'Keys change at midnight, and a scanner that is four minutes behind refuses good tickets. Accept the keys of yesterday and tomorrow too.',
    ],
    done: '0.4 seconds a ticket; 900 passengers boarded in 14 minutes.',
  },
]
