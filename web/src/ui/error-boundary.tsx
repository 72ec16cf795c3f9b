import { Component, createContext, type ErrorInfo, type ReactNode } from 'react';
import { Failed } from './states.tsx';

interface Props {
  readonly children: ReactNode;
  /** What went wrong is over when this changes. */
  readonly resetKey?: string;
  /** What else one can do about it. */
  readonly more?: ReactNode;
}

interface State {
  readonly error: Error | null;
}

/**
 * Forgets all that was fetched, so that it is fetched anew: Relay remembers also that something could not be. Given by the
 * app, which holds what knows.
 */
export const RenewContext = createContext<() => void>(() => undefined);

/** How soon a service that could not be reached is asked again. */
const againMs = 4_000;

/** Shows what went wrong in place of what is inside, with a way to try again. What could not be reached is tried again by itself. */
export class ErrorBoundary extends Component<Props, State> {
  static override contextType = RenewContext;
  declare context: () => void;
  override state: State = { error: null };
  #timer = 0;

  static getDerivedStateFromError(error: Error): State {
    return { error };
  }

  override componentDidUpdate(before: Props) {
    if (this.state.error && before.resetKey !== this.props.resetKey) this.setState({ error: null });
  }

  override componentDidCatch(error: Error, info: ErrorInfo) {
    if (error.name === 'UnreachableError') {
      this.#timer = window.setTimeout(this.#retry, againMs);
      return;
    }
    // For whoever reports it: the page itself shows one sentence.
    window.reportError(new Error(`${error.message}${info.componentStack ?? ''}`, { cause: error }));
  }

  override componentWillUnmount() {
    clearTimeout(this.#timer);
  }

  readonly #retry = () => {
    this.setState({ error: null });
    this.context();
  };

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <Failed message={error.message} onRetry={this.#retry}>
        {this.props.more}
      </Failed>
    );
  }
}
