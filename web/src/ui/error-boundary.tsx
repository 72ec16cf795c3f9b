import { Component, type ErrorInfo, type ReactNode } from 'react';
import { Failed } from './states.tsx';

interface Props {
  readonly children: ReactNode;
  /** What went wrong is over when this changes. */
  readonly resetKey?: string;
}

interface State {
  readonly error: Error | null;
}

/** Shows what went wrong in place of what is inside, with a way to try again. */
export class ErrorBoundary extends Component<Props, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: Error): State {
    return { error };
  }

  override componentDidUpdate(before: Props) {
    if (this.state.error && before.resetKey !== this.props.resetKey) this.setState({ error: null });
  }

  override componentDidCatch(error: Error, info: ErrorInfo) {
    // For whoever reports it: the page itself shows one sentence.
    window.reportError(new Error(`${error.message}${info.componentStack ?? ''}`, { cause: error }));
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return <Failed message={error.message} onRetry={() => this.setState({ error: null })} />;
  }
}
