//! What the operating system has to bring: a linker, a browser, a Vulkan driver, Node.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::setup::node;
use crate::shell::{self, Shell, step};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Need {
    /// A C compiler, with which rustc links.
    Linker,
    /// A Vulkan driver that runs on the CPU.
    SoftwareVulkan,
    Chromium,
    /// Node with npm, of any version: npm brings a newer Node.
    Node,
}

impl Need {
    fn words(self) -> &'static str {
        match self {
            Self::Linker => "a C compiler to link with (cc)",
            Self::SoftwareVulkan => "a software Vulkan driver (Mesa's lavapipe) and libvulkan.so.1",
            Self::Chromium => "Chromium ($CHROMIUM, chromium, chromium-browser or google-chrome)",
            Self::Node => "Node (node) with npm",
        }
    }

    /// Debian's packages for it.
    fn packages(self, ubuntu: bool) -> &'static [&'static str] {
        match self {
            Self::Linker => &["build-essential", "pkg-config"],
            Self::SoftwareVulkan => &["mesa-vulkan-drivers", "libvulkan1"],
            // Ubuntu's package is an empty one that points to a snap, which a container cannot run.
            Self::Chromium if ubuntu => &[],
            Self::Chromium => &["chromium"],
            Self::Node => &["nodejs", "npm"],
        }
    }

    fn is_met(self, shell: &Shell) -> bool {
        match self {
            Self::Linker => shell.find("cc").is_some(),
            Self::SoftwareVulkan => software_vulkan().is_some() && has_vulkan_loader(shell),
            Self::Chromium => chromium(shell).is_some(),
            Self::Node => shell.find("npm").is_some() && shell.find("node").is_some(),
        }
    }
}

/// Installs what is absent with apt-get when root; otherwise says the exact command.
pub(crate) fn prepare(shell: &Shell, needs: &[Need]) -> Result<()> {
    let absent = |needs: &[Need]| needs.iter().copied().filter(|need| !need.is_met(shell)).collect::<Vec<_>>();
    let missing = absent(needs);
    let ubuntu = is_ubuntu(&std::fs::read_to_string("/etc/os-release").unwrap_or_default());
    let packages: Vec<&str> = missing.iter().flat_map(|need| need.packages(ubuntu)).copied().collect();
    if !packages.is_empty() {
        if shell.find("apt-get").is_none() {
            return Err(lacking(&missing, "install it with the packages of your system"));
        }
        if !is_root(shell) {
            return Err(lacking(&missing, &apt_by_hand(&packages)));
        }
        step(&format!("installing {} with apt-get", packages.join(", ")), "1 to 3 minutes", || apt(shell, &packages))?;
    }
    if missing.contains(&Need::Chromium) && ubuntu {
        chromium_by_playwright(shell)?;
    }
    let still = absent(&missing);
    if still.is_empty() {
        return Ok(());
    }
    Err(lacking(&still, "apt-get did not bring it; install it by hand"))
}

fn lacking(needs: &[Need], remedy: &str) -> Error {
    let words: Vec<_> = needs.iter().map(|need| need.words()).collect();
    Error::Needed(format!("missing: {}\n  {remedy}", words.join("; ")))
}

fn apt_by_hand(packages: &[&str]) -> String {
    format!("sudo apt-get update && sudo apt-get install -y --no-install-recommends {}", packages.join(" "))
}

fn apt(shell: &Shell, packages: &[&str]) -> Result<()> {
    shell::run(&mut shell.command("apt-get", ["-q", "update"]))?;
    let mut install = shell.command("apt-get", ["-q", "install", "-y", "--no-install-recommends"]);
    shell::run(install.args(packages).env("DEBIAN_FRONTEND", "noninteractive"))
}

/// Ubuntu has Chromium as a snap only; Playwright brings one, and the libraries that it needs.
fn chromium_by_playwright(shell: &Shell) -> Result<()> {
    let command = ["playwright", "install", "--with-deps", "--no-shell", "chromium"];
    if !is_root(shell) {
        let by_hand = format!("(cd {} && npm ci && npx {})", node::BROWSER_TESTS, command.join(" "));
        return Err(lacking(&[Need::Chromium], &by_hand));
    }
    node::prepare(shell)?;
    step("installing Playwright's Chromium", "about a minute", || {
        shell::run(shell.command("npx", command).current_dir(shell.root().join(node::BROWSER_TESTS)))
    })
}

/// Chromium: the one that $CHROMIUM names, one on PATH, or one that Playwright installed.
pub(crate) fn chromium(shell: &Shell) -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").filter(|name| !name.is_empty());
    let named = named.and_then(|name| shell.find(name));
    named.or_else(|| ["chromium", "chromium-browser", "google-chrome"].iter().find_map(|name| shell.find(name))).or_else(|| {
        let cache = std::env::var_os("PLAYWRIGHT_BROWSERS_PATH").map(PathBuf::from);
        playwright_chromium(&cache.or_else(|| Some(std::env::home_dir()?.join(".cache/ms-playwright")))?)
    })
}

/// The newest `chromium-NUMBER/chrome-linux*/chrome` in Playwright's cache.
fn playwright_chromium(cache: &Path) -> Option<PathBuf> {
    let number = |folder: &Path| folder.file_name()?.to_str()?.strip_prefix("chromium-")?.parse::<u32>().ok();
    let (_, newest) = entries(cache).filter_map(|folder| Some((number(&folder)?, folder))).max()?;
    entries(&newest).map(|folder| folder.join("chrome")).find(|path| path.is_file())
}

/// The description of Mesa's lavapipe, which the Vulkan loader reads.
pub(crate) fn software_vulkan() -> Option<PathBuf> {
    ["/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d"].iter().find_map(|folder| lavapipe(Path::new(folder)))
}

fn lavapipe(folder: &Path) -> Option<PathBuf> {
    entries(folder).find(|path| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("lvp_icd") && name.ends_with(".json"))
    })
}

fn has_vulkan_loader(shell: &Shell) -> bool {
    // /sbin is often not on PATH of a plain user.
    let listed = shell.output("ldconfig", &["-p"]).or_else(|| shell.output("/sbin/ldconfig", &["-p"]));
    listed.is_some_and(|text| text.contains("libvulkan.so.1"))
}

fn is_root(shell: &Shell) -> bool {
    shell.output("id", &["-u"]).is_some_and(|id| id.trim() == "0")
}

fn is_ubuntu(os_release: &str) -> bool {
    os_release.lines().any(|line| matches!(line.trim(), "ID=ubuntu" | "ID=\"ubuntu\""))
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An empty folder for one test.
    fn empty(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("palimpsest-xtask-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn ubuntu_is_told_from_debian_and_from_its_relatives() {
        assert!(is_ubuntu("NAME=\"Ubuntu\"\nID=ubuntu\nID_LIKE=debian\n"));
        assert!(!is_ubuntu("ID=debian\n"));
        assert!(!is_ubuntu("ID=linuxmint\nID_LIKE=ubuntu\n"));
        assert!(!Need::Chromium.packages(false).is_empty() && Need::Chromium.packages(true).is_empty());
    }

    #[test]
    fn the_command_to_type_is_exact() {
        let error = lacking(&[Need::Chromium, Need::Node], &apt_by_hand(&["chromium", "nodejs", "npm"]));
        assert_eq!(error.exit_code(), 2);
        assert!(
            error.to_string().ends_with("\n  sudo apt-get update && sudo apt-get install -y --no-install-recommends chromium nodejs npm")
        );
    }

    #[test]
    fn lavapipe_is_found_among_other_drivers() {
        let folder = empty("icd");
        std::fs::write(folder.join("radeon_icd.x86_64.json"), "{}").unwrap();
        assert_eq!(lavapipe(&folder), None);
        std::fs::write(folder.join("lvp_icd.x86_64.json"), "{}").unwrap();
        assert_eq!(lavapipe(&folder), Some(folder.join("lvp_icd.x86_64.json")));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn the_newest_of_playwrights_browsers_is_taken() {
        let folder = empty("cache");
        assert_eq!(playwright_chromium(&folder), None);
        for name in ["chromium-999", "chromium-1200", "chromium_headless_shell-1300"] {
            std::fs::create_dir_all(folder.join(name).join("chrome-linux64")).unwrap();
            std::fs::write(folder.join(name).join("chrome-linux64/chrome"), "").unwrap();
        }
        assert_eq!(playwright_chromium(&folder), Some(folder.join("chromium-1200/chrome-linux64/chrome")));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
