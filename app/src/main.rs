//! The page: what a person sees. Settings become commands, commands events, events the store, the store views.

#![allow(unreachable_pub, reason = "the component macro makes pub items of private ones")]

mod address;
mod app;
mod bridge;
mod desk;
mod figure;
mod inbox;
mod keyboard;
mod notes;
mod panels;
mod session;
mod table;
mod theme;
mod widgets;

fn main() {
    leptos::mount::mount_to_body(app::App);
}
