import { describe, expect, it } from 'vitest';
import { placeholdersIn, withValues } from '../../../web/src/sessions/placeholders.ts';

describe('the placeholders of a playbook', () => {
  it('are the names in two braces, each once and in order', () => {
    expect(placeholdersIn('Release {{service}} {{ to version }} of {{service}}, {{Änderung_2}}.')).toEqual([
      'service',
      'to version',
      'Änderung_2',
    ]);
  });

  it('are not expressions of workflows, templates and code', () => {
    const code = [
      '\u0024{{ secrets.TOKEN }}',
      '\u0024{{ github }}',
      '{{ .Values.name }}',
      '{{#if a}}',
      '{{ a | b }}',
      '{{}}',
      '{ a }',
    ];
    expect(placeholdersIn(code.join('\n'))).toEqual([]);
    expect(placeholdersIn(`{{${'a'.repeat(41)}}}`)).toEqual([]);
  });

  it('are at most 20', () => {
    const names = Array.from({ length: 25 }, (_, index) => `value ${index}`);
    expect(placeholdersIn(names.map((name) => `{{${name}}}`).join(' '))).toEqual(names.slice(0, 20));
  });

  it('take linear time in a long text of braces', () => {
    expect(placeholdersIn('{{ a'.repeat(25_000))).toEqual([]);
  });
});

describe('the values of placeholders', () => {
  it('follow the prompt, a line each, without empty ones', () => {
    const values = [
      ['service', ' api '],
      ['version', ''],
    ] as const;
    expect(withValues('Today, please.', values)).toBe('Today, please.\n\nValues for the playbook:\n\n- service: api');
    expect(withValues('', values)).toBe('Values for the playbook:\n\n- service: api');
  });

  it('leave the prompt as it is if there are none', () => {
    expect(withValues('Go.', [['service', '  ']])).toBe('Go.');
  });
});
