/**
 * Prints the partitions of ranges around the odd days of several zones, for a test that runs it once for each time zone
 * of the process.
 */
import { listPartitions } from '../../src/domain/range.js';
import { oddRanges } from './zones.js';

const listed = oddRanges.map(({ timeZone, from, to }) => ({
  timeZone,
  partitions: listPartitions({ column: 'day', grain: 'day', timeZone }, from, to),
}));
// The zone that the process has, so that the test can see that it was really set.
console.log(JSON.stringify({ processZone: Intl.DateTimeFormat().resolvedOptions().timeZone, listed }));
