import { describe, expect, it } from 'vitest';
import { type DefinitionFile, readDefinition } from '../../../src/domain/environments/read-definition.ts';

const yaml = '.switchyard/environment.yaml';
const linesOf = (file: DefinitionFile | null, text: string) =>
  readDefinition(file, text).problems.map(({ line, message }) => `${line}: ${message}`);

describe('the own file', () => {
  it('has all members', () => {
    const text = `
setup:
  - npm ci
  - npm run build
start: npm run dev &
env: { PORT: 3000, CI: true, NAME: site }
secrets: [npm-token]
timeout_minutes: 30
lockfiles: [web/package-lock.json]
`;
    expect(readDefinition(yaml, text)).toEqual({
      definition: {
        setup: ['npm ci', 'npm run build'],
        start: ['npm run dev &'],
        env: { PORT: '3000', CI: 'true', NAME: 'site' },
        secrets: ['npm-token'],
        timeoutMinutes: 30,
        lockfiles: ['web/package-lock.json'],
      },
      problems: [],
    });
  });

  it.each([
    ['an empty text', ''],
    ['only a comment', '# nothing\n'],
    ['members without values', 'setup:\nenv:\n'],
  ])('may be %s', (_name, text) => {
    expect(readDefinition(null, text)).toEqual({
      definition: { setup: [], start: [], env: {}, secrets: [], timeoutMinutes: 20, lockfiles: [] },
      problems: [],
    });
  });

  it.each([
    ['a member that does not exist', 'setup: a\nstrat: b\n', '2: "strat" is not a member of an environment.'],
    ['a command that is no text', 'setup:\n  - a\n  - [b]\n', '3: "setup" must be a command, or a list of commands.'],
    ['an empty command', "setup: ''\n", '1: A command of "setup" must not be empty.'],
    [
      'a number that is too large',
      '\ntimeout_minutes: 999\n',
      '2: "timeout_minutes" must be a whole number from 1 to 120.',
    ],
    ['a variable that the service sets', 'env:\n  A: b\n  LD_PRELOAD: x\n', '3: "LD_PRELOAD" cannot be a variable'],
    ['a value that is a list', 'env:\n  A: [b]\n', '2: The value of a variable must be'],
    ['a path out of the repository', 'lockfiles:\n- ../x\n', '2: "../x" must be the path of a file in the repository'],
    ['an absolute path', 'lockfiles: [/etc/passwd]\n', '1: "/etc/passwd" must be the path of a file in the repository'],
    ['a list', '- a\n', '1: The environment must be a mapping'],
    ['a text', 'npm ci\n', '1: The environment must be a mapping'],
    ['broken YAML', 'setup: [a\nstart: b\n', '2: The text must be YAML'],
    ['a key twice', 'setup: a\nsetup: b\n', '2: The text must be YAML: Map keys must be unique'],
    ['two documents', 'setup: a\n---\nsetup: b\n', '2: The text must be YAML'],
    ['an alias', 'setup: &a x\nstart: *a\n', '2: Aliases (*name) are not supported.'],
    ['a tag', 'setup: !!js/function x\n', '1: Tags (!name) are not supported.'],
  ])('says where %s is', (_name, text, problem) => {
    const found = readDefinition(yaml, text);
    expect(found.definition).toBeNull();
    const problems = linesOf(yaml, text);
    expect(
      problems.some((each) => each.startsWith(problem)),
      problems.join('\n'),
    ).toBe(true);
    expect(found.problems.every(({ severity, file }) => severity === 'ERROR' && file === yaml)).toBe(true);
  });

  it('says so, whatever the depth', () => {
    for (const depth of [1_000, 3_000, 10_000]) {
      expect(linesOf(yaml, `setup: ${'['.repeat(depth)}${']'.repeat(depth)}`)[0]).toMatch(
        /^(?:null: The text is nested too deeply|1: "setup" must be)/,
      );
    }
  });

  it('names no file for the text that is stored', () => {
    expect(readDefinition(null, 'x: 1').problems).toMatchObject([{ file: null, line: 1 }]);
  });
});

describe('a hostile text', () => {
  const levels = [...'bcdefghijklm'];
  const bomb = [
    'a: &a [x,x,x,x,x,x,x,x,x]',
    ...levels.map((name, index) => `${name}: &${name} [${`*${'abcdefghijklm'[index]},`.repeat(9)}]`),
  ];

  it.each<[string, DefinitionFile, string]>([
    ['a bomb of aliases', yaml, bomb.join('\n')],
    ['nested lists', yaml, `setup: ${'['.repeat(60_000)}`],
    ['nested mappings', yaml, `setup: ${'{a: '.repeat(15_000)}`],
    ['many keys', yaml, Array.from({ length: 9_000 }, (_, index) => `k${index}: 1`).join('\n')],
    ['nested JSON', '.devcontainer/devcontainer.json', `{"postCreateCommand": ${'['.repeat(60_000)}`],
    [
      'nested objects',
      '.cursor/environment.json',
      `${'{"install":'.repeat(5_900)}1${'}'.repeat(5_900)}`.slice(0, 65_536),
    ],
    ...[2_000, 3_000, 4_000, 5_000].flatMap((depth): [string, DefinitionFile, string][] => [
      [
        `objects of ${depth} levels`,
        '.devcontainer/devcontainer.json',
        `{"postCreateCommand":${'{"":'.repeat(depth)}"a"${'}'.repeat(depth)}}`,
      ],
      [`lists of ${depth} levels`, '.cursor/environment.json', `{"install":${'['.repeat(depth)}${']'.repeat(depth)}}`],
    ]),
    ['a long name', yaml, `env: {? "${'x'.repeat(60_000)}" : 1}\nlockfiles: ["${'../'.repeat(1_000)}"]`],
    [
      'a long name in JSON',
      '.devcontainer/devcontainer.json',
      `{"containerEnv":{"${'-'.repeat(60_000)}":1},"postCreateCommand":1}`,
    ],
    ['a large text', yaml, `# ${'x'.repeat(70_000)}`],
    ['a NUL character', yaml, 'setup: a\0b'],
    ['a lone surrogate', yaml, 'setup: "\ud800"'],
  ])('is refused: %s', (_name, file, text) => {
    const { definition, problems } = readDefinition(file, text);
    expect(definition).toBeNull();
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.length).toBeLessThanOrEqual(20);
    expect(Math.max(...problems.map(({ message }) => message.length))).toBeLessThanOrEqual(500);
  });

  it('cannot add members to objects of ours', () => {
    expect(linesOf(yaml, '__proto__: {setup: x}\n')[0]).toContain('is not a member');
    expect(
      readDefinition('.devcontainer/devcontainer.json', '{"__proto__": {"postCreateCommand": "x"}}').definition?.setup,
    ).toEqual([]);
    expect(({} as { setup?: unknown }).setup).toBeUndefined();
  });
});

describe('the files of other tools', () => {
  it('reads a dev container with comments', () => {
    const text = `{
  // Comments and trailing commas are allowed.
  "image": "node:20",
  "postCreateCommand": { "web": ["npm", "ci", "--prefix", "my web"], "api": "make deps" },
  "postStartCommand": "npm run dev",
  "containerEnv": {
    "STAGE": "test",
    "PATH": "/opt/bin",
    "TOKEN": "\${localEnv:TOKEN}",
  },
}`;
    const { definition, problems } = readDefinition('.devcontainer/devcontainer.json', text);
    expect(definition).toMatchObject({
      setup: ["npm ci --prefix 'my web'", 'make deps'],
      start: ['npm run dev'],
      env: { STAGE: 'test' },
    });
    expect(problems).toMatchObject([
      { severity: 'WARNING', line: 8 },
      { severity: 'WARNING', line: 9 },
    ]);
  });

  it('names their members in errors', () => {
    expect(linesOf('.devcontainer/devcontainer.json', '{\n "postCreateCommand": 1 }')).toEqual([
      '2: "postCreateCommand" must be a command, or a list of commands.',
    ]);
    expect(linesOf('.cursor/environment.json', '{"install": {}}')[0]).toMatch(/^1: "install" must be a command/);
    expect(linesOf('.cursor/environment.json', '[]')).toEqual(['1: The text must be a JSON object.']);
    expect(linesOf('.cursor/environment.json', '{\n"install" "x"}')[0]).toBe(
      '2: The text must be JSON with comments: colon expected.',
    );
  });

  it('quotes arguments for the shell', () => {
    const text = JSON.stringify({ postCreateCommand: ['echo', "it's", '$HOME', ''] });
    expect(readDefinition('.devcontainer/devcontainer.json', text).definition?.setup).toEqual([
      "echo 'it'\\''s' '$HOME' ''",
    ]);
  });

  it('reads Cursor and OpenHands', () => {
    expect(
      readDefinition('.cursor/environment.json', '{"install": "npm i", "start": "sudo service docker start"}')
        .definition,
    ).toMatchObject({
      setup: ['npm i'],
      start: ['sudo service docker start'],
    });
    expect(readDefinition('.openhands/setup.sh', 'pip install x\n').definition).toMatchObject({
      setup: ['bash .openhands/setup.sh'],
      lockfiles: ['.openhands/setup.sh'],
    });
  });
});
