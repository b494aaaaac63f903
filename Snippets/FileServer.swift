// A folder of files: an app with its assets, and downloads with a list of them.
import DuplexServer

var server = WebServer(port: 8080)
server.use(.securityHeaders(), .compressResponses())

var assets = FileOptions()
assets.hashedNamesAreImmutable = true
assets.fallbackPage = "index.html"
server.files("/", folder: "dist", options: assets)

var downloads = FileOptions()
downloads.showsListings = true
downloads.sendsAsAttachments = true
server.files("/downloads", folder: "/srv/downloads", options: downloads)

await server.runAndExit()
