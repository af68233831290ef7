//! The message port between the page and this worker: one `Uint8Array` per message, both ways.

use futures::{StreamExt, channel::mpsc};
use gloo::timers::future::TimeoutFuture;
use palimpsest_protocol::{Command, Event, decode, encode};
use palimpsest_worker::{Desk, Devices};
use wasm_bindgen::{JsCast, prelude::Closure};
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent, js_sys};

/// Opens the device, then serves the page until it goes away.
pub(crate) async fn serve() {
    let Ok(scope) = js_sys::global().dyn_into::<DedicatedWorkerGlobalScope>() else {
        web_sys::console::error_1(&"this script must run in a dedicated worker".into());
        return;
    };
    let (sender, mut commands) = mpsc::unbounded::<Result<Command, String>>();
    let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |message: MessageEvent| {
        let bytes = js_sys::Uint8Array::new(&message.data()).to_vec();
        // the receiver lives as long as the worker
        let _ = sender.unbounded_send(decode(&bytes).map_err(|error| error.to_string()));
    });
    scope.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    on_message.forget();

    let devices = Devices::open().await;
    post(&scope, &devices.event(false));
    let mut desk = Desk::new(devices);
    loop {
        let next = if desk.is_busy() {
            // lets messages that wait behind this task in
            TimeoutFuture::new(0).await;
            commands.try_recv().ok()
        } else {
            commands.next().await
        };
        let events = match next {
            Some(Ok(command)) => desk.handle(command).await,
            Some(Err(refused)) => vec![Event::Refused(refused)],
            None => desk.advance().await,
        };
        events.iter().for_each(|event| post(&scope, event));
    }
}

fn post(scope: &DedicatedWorkerGlobalScope, event: &Event) {
    match encode(event) {
        Ok(bytes) => {
            let array = js_sys::Uint8Array::from(bytes.as_slice());
            // a transfer, not a copy: traces are megabytes
            let transfer = js_sys::Array::of1(&array.buffer());
            if let Err(error) = scope.post_message_with_transfer(&array, &transfer) {
                web_sys::console::error_1(&error);
            }
        }
        Err(error) => web_sys::console::error_1(&error.to_string().into()),
    }
}
