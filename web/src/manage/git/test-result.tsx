import { useEffect, useRef } from 'react';
import { testResult as texts } from '../../texts/git-connections.ts';
import { Icon } from '../../ui/icons.tsx';
import { visible } from '../../ui/visible.ts';
import { ConnectionReport } from './connection-report.tsx';
import type { ConnectionTestResult } from './use-connection-test.ts';

interface TestResultProps {
  readonly isTesting: boolean;
  /** Null: there is none yet. */
  readonly result: ConnectionTestResult | null;
}

/** The result of a test: a sentence that is announced, and the report. */
export function TestResult({ isTesting, result }: TestResultProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (result !== null) box.current?.scrollIntoView({ block: 'nearest' });
  }, [result]);
  return (
    <div className="git-test" ref={box}>
      <p role="status" className={result === null ? undefined : result.isOk ? 'good' : 'problem'}>
        {isTesting
          ? texts.testing
          : result !== null && (
              <>
                <Icon name={result.isOk ? 'check' : 'warning'} /> {visible(result.text)}
              </>
            )}
      </p>
      {result?.report && <ConnectionReport report={result.report} />}
    </div>
  );
}
