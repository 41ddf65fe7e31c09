# Reads a release of `discreet` in R: what was promised, estimates with intervals, a comparison and a picture.
#
# The release is JSON, and its draws are a CSV file, which takes the privacy noise into account already:
#
#   discreet infer falls.release.json --draws falls.draws.csv
#   Rscript read_release.R falls.release.json falls.draws.csv falls.png
#
# It needs R and the package jsonlite (Debian: r-base-core, r-cran-jsonlite).

arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) < 2) stop("Usage: Rscript read_release.R RELEASE.json DRAWS.csv [PICTURE.png]")

# Numbers that promise something are texts in a release ("0.3", "1/3"): no digit of them is lost.
release <- jsonlite::fromJSON(arguments[1], simplifyVector = FALSE)
cat("Release:  ", release$label, "\n", sep = "")
cat("Promise:  epsilon = ", release$guarantee$epsilon, ", delta = ", release$guarantee$delta, "\n", sep = "")
if (isTRUE(release$simulated)) cat("Simulated: this is not a release of real records.\n")

draws <- read.csv(arguments[2], check.names = FALSE, fileEncoding = "UTF-8")
draws <- draws[names(draws) != "draw"]

# A credible interval is a pair of quantiles of the draws. Never use the published counts themselves: they are noisy.
level <- 0.9
tails <- c((1 - level) / 2, (1 + level) / 2)
estimates <- data.frame(
  mean = vapply(draws, mean, numeric(1)),
  low = vapply(draws, quantile, numeric(1), probs = tails[1], names = FALSE),
  high = vapply(draws, quantile, numeric(1), probs = tails[2], names = FALSE)
)
print(round(estimates, 4))

# Any question about several quantities is asked draw by draw.
if (ncol(draws) > 1) {
  apart <- draws[[1]] - draws[[2]]
  cat(sprintf("P(%s > %s) = %.3f\n", names(draws)[1], names(draws)[2], mean(apart > 0)))
}

if (length(arguments) > 2) {
  height <- max(300, 80 + 32 * nrow(estimates))
  png(arguments[3], width = 900, height = height, type = "cairo")
  longest <- max(nchar(rownames(estimates)))
  par(mar = c(4, min(28, 2 + 0.5 * longest), 3, 1))
  places <- rev(seq_len(nrow(estimates)))
  plot(estimates$mean, places, xlim = range(estimates$low, estimates$high), ylim = c(0.5, nrow(estimates) + 0.5),
       pch = 21, bg = "white", col = "#0072B2", yaxt = "n", ylab = "", xlab = sprintf("mean and %g %% interval", 100 * level),
       main = release$label, bty = "n")
  segments(estimates$low, places, estimates$high, places, lwd = 5, col = "#0072B2", lend = "butt")
  points(estimates$mean, places, pch = 21, bg = "white", col = "#0072B2", cex = 1.3)
  axis(2, at = places, labels = rownames(estimates), las = 1, tick = FALSE)
  invisible(dev.off())
}
