//! The message port to the training worker: starts it, sends commands, hands over events, and says when it is dead.

use crate::inbox::Inbox;
use gloo::timers::callback::Timeout;
use leptos::prelude::*;
use palimpsest_protocol::{Command, Event, decode, encode};
use std::collections::VecDeque;
use wasm_bindgen::{JsCast, closure::Closure};
use web_sys::{ErrorEvent, MessageEvent, Worker, WorkerOptions, WorkerType};

/// The loader that the build emits beside the page.
const LOADER: &str = "./palimpsest-worker_loader.js";
/// How long the worker may take to say its first word before the page says so.
const PATIENCE_MS: u32 = 30_000;

/// How long reports gather before they are handed over together: small models report faster than a page can be drawn.
const GATHERED_MS: u32 = 30;

/// What comes over the port.
pub(crate) enum News {
    /// A report.
    Event(Event),
    /// Nothing more will come; why.
    Dead(String),
    /// The worker has not spoken for a while; why that may be.
    Late(String),
}

struct Port {
    worker: Option<Worker>,
    /// Commands given before the worker could hear.
    waiting: VecDeque<Command>,
    speaking: bool,
    /// How many workers there have been: news of an earlier one is old.
    started: u32,
}

/// Sends commands; a copy is as good as the original.
#[derive(Clone, Copy)]
pub(crate) struct Bridge {
    port: StoredValue<Port, LocalStorage>,
}

impl Bridge {
    /// A bridge whose worker is not started yet: commands wait.
    pub(crate) fn new() -> Bridge {
        Bridge { port: StoredValue::new_local(Port { worker: None, waiting: VecDeque::new(), speaking: false, started: 0 }) }
    }

    /// Starts the worker, or another one in its place; `hear` gets every report.
    pub(crate) fn start(self, hear: impl Fn(News) + Clone + 'static) {
        let options = WorkerOptions::new();
        options.set_type(WorkerType::Module);
        let Ok(worker) = Worker::new_with_options(LOADER, &options) else {
            hear(News::Dead("this browser could not start the training worker. A current Chrome, Edge, Firefox or Safari can.".to_owned()));
            return;
        };
        self.port.update_value(|port| {
            port.started += 1;
            port.speaking = false;
        });
        let started = self.port.with_value(|port| port.started);
        self.listen(&worker, started, hear.clone());
        self.port.update_value(|port| port.worker = Some(worker));
        let late = move || {
            if self.port.with_value(|port| !port.speaking && port.started == started && port.worker.is_some()) {
                hear(News::Late("The training worker has not answered yet. On a slow connection it may still be loading.".to_owned()));
            }
        };
        Timeout::new(PATIENCE_MS, late).forget();
    }

    /// Sends a command, or keeps it until the worker can hear.
    pub(crate) fn send(self, command: Command) {
        self.port.update_value(|port| match (&port.worker, port.speaking) {
            (Some(worker), true) => post(worker, &command),
            _ => port.waiting.push_back(command),
        });
    }

    /// Ends a worker that has stopped; what waits for it is dropped.
    fn bury(self) {
        self.port.update_value(|port| {
            if let Some(worker) = port.worker.take() {
                worker.terminate();
            }
            port.waiting.clear();
            port.speaking = false;
        });
    }

    fn listen(self, worker: &Worker, started: u32, hear: impl Fn(News) + Clone + 'static) {
        let tell = move |all: Vec<News>| {
            for news in all {
                if self.port.with_value(|port| port.started != started || port.worker.is_none()) {
                    return;
                }
                if matches!(news, News::Dead(_)) {
                    self.bury();
                }
                hear(news);
            }
        };
        let inbox = Inbox::default();
        let (gathered, tell_gathered) = (inbox.clone(), tell.clone());
        let end = move |reason: String| tell(inbox.close(reason));
        let unknown = end.clone();
        let message = Closure::<dyn Fn(MessageEvent)>::new(move |message: MessageEvent| {
            let bytes = js_sys::Uint8Array::new(&message.data()).to_vec();
            match decode::<Event>(&bytes) {
                Ok(event) => {
                    self.flush();
                    if gathered.keep(event) {
                        let (gathered, tell) = (gathered.clone(), tell_gathered.clone());
                        Timeout::new(GATHERED_MS, move || tell(gathered.take())).forget();
                    }
                }
                Err(error) => unknown(format!("{error}.")),
            }
        });
        worker.set_onmessage(Some(message.as_ref().unchecked_ref()));
        message.forget();
        let stopped = end.clone();
        let error = Closure::<dyn Fn(web_sys::Event)>::new(move |event: web_sys::Event| {
            // A worker that stopped gives an error event with a message; one whose file is missing gives a bare event.
            let words = event.dyn_ref::<ErrorEvent>().map(ErrorEvent::message).unwrap_or_default();
            let reason = if words.is_empty() {
                "the training worker did not load. Reload the page; if that does not help, its files are missing on this server.".to_owned()
            } else {
                format!("the training worker stopped ({words}). Change a setting, and another one starts.")
            };
            stopped(reason);
        });
        worker.set_onerror(Some(error.as_ref().unchecked_ref()));
        error.forget();
        let unreadable = Closure::<dyn Fn(MessageEvent)>::new(move |_| {
            end("a message of the training worker could not be read. Reload the page.".to_owned());
        });
        worker.set_onmessageerror(Some(unreadable.as_ref().unchecked_ref()));
        unreadable.forget();
    }

    fn flush(self) {
        self.port.update_value(|port| {
            port.speaking = true;
            if let Some(worker) = &port.worker {
                for command in port.waiting.drain(..) {
                    post(worker, &command);
                }
            }
        });
    }
}

fn post(worker: &Worker, command: &Command) {
    // Commands are small and always encode; a closed port is reported by its error event.
    if let Ok(bytes) = encode(command) {
        let _ = worker.post_message(&js_sys::Uint8Array::from(bytes.as_slice()));
    }
}
