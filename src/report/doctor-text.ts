import type { Finding } from '../domain/finding.js';
import { countOf } from './figures.js';
import { wrap } from './text.js';

/** Findings in their order, what to do about each under it, and how many there are to do. */
export function doctorLines(findings: readonly Finding[]): string[] {
  return [...findings.flatMap(findingLines), '', ...wrap(conclusion(findings))];
}

const INDENT = ' '.repeat(9);

function findingLines(finding: Finding): string[] {
  const head = wrap(`${finding.check}: ${finding.found}`, finding.level.padEnd(INDENT.length));
  if (finding.level === 'ok') return head;
  // A statement is copied, so that it is not broken.
  return [...head, ...wrap(finding.remedy, INDENT), ...finding.sql.map((statement) => `${INDENT}  ${statement}`)];
}

function conclusion(findings: readonly Finding[]): string {
  const count = (level: Finding['level']) => findings.filter((finding) => finding.level === level).length;
  const [problems, warnings] = [count('problem'), count('warning')];
  if (problems + warnings === 0) return 'Everything that was looked at is well.';
  const said = warnings === 0 ? '' : `, ${countOf(warnings, 'warning')}`;
  return problems === 0 ? `No problem${said}.` : `${countOf(problems, 'problem')}${said}.`;
}
