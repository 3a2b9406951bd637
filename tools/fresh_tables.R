# Writes labelled tables of R packages as CSV: the class first, then the columns, no header.
# Rscript tools/fresh_tables.R FOLDER
folder <- commandArgs(trailingOnly = TRUE)[1]
suppressPackageStartupMessages({
  library(Biobase)
  library(TH.data)
})

from <- function(package, name) {
  here <- new.env()
  data(list = name, package = package, envir = here)
  as.list(here)
}
median_for_missing <- function(X) {
  apply(X, 2, function(x) { x[is.na(x)] <- median(x, na.rm = TRUE); x })
}
table_of <- function(name, X, y) {
  X <- data.matrix(as.data.frame(X))
  known <- complete.cases(X) & !is.na(y)
  y <- as.integer(factor(as.character(y)[known]))
  path <- file.path(folder, paste0(name, ".csv"))
  write.table(cbind(y, X[known, ]), path, sep = ",", row.names = FALSE, col.names = FALSE)
}
without <- function(X, columns) X[, !(names(X) %in% columns)]

leukemias <- from("ALL", "ALL")$ALL
kind <- substr(as.character(pData(leukemias)$BT), 1, 1)
lesion <- as.character(pData(leukemias)$mol.biol)
common <- kind == "B" & lesion %in% c("ALL1/AF4", "BCR/ABL", "E2A/PBX1", "NEG")
table_of("all_bt", t(exprs(leukemias)), kind)
table_of("all_molbiol", t(exprs(leukemias))[common, ], lesion[common])
bladder <- from("bladderbatch", "bladderdata")$bladderEset
table_of("bladderbatch_cancer", t(exprs(bladder)), pData(bladder)$cancer)
tissue <- from("dslabs", "tissue_gene_expression")$tissue_gene_expression
table_of("tissue", tissue$x, tissue$y)
khan <- from("impute", "khanmiss")$khanmiss
amounts <- sapply(khan[-1, -(1:2)], function(x) as.numeric(as.character(x)))
tumours <- unlist(lapply(khan[1, -(1:2)], as.character))
table_of("khan", median_for_missing(t(amounts)), tumours)
chicken <- from("FactoMineR", "poulet")$poulet
table_of("poulet", chicken[, -1], chicken[, 1])
breast <- from("TH.data", "Westbc")$Westbc
table_of("westbc", t(breast$assay), breast$pheno$nodal.y)
yeast <- from("kohonen", "yeast")$yeast
cycles <- do.call(cbind, yeast[c("alpha", "cdc15", "cdc28", "elu")])
cycles <- median_for_missing(cycles[, colMeans(is.na(cycles)) < 0.1])
table_of("yeast_cycle", cycles, yeast$class)

nir <- from("kohonen", "nir")$nir
table_of("nir_temp", nir$spectra, nir$temperature)
fruit <- from("rrcov", "fruit")$fruit
table_of("fruit", fruit[, -1], fruit[, 1])

dhfr <- from("caret", "dhfr")$dhfr
table_of("dhfr", dhfr[, -1], dhfr[, 1])
cox2 <- from("caret", "cox2")
table_of("cox2", cox2$cox2Descr, cox2$cox2Class)
mdrr <- from("caret", "mdrr")
table_of("mdrr", mdrr$mdrrDescr, mdrr$mdrrClass)
cells <- from("caret", "segmentationData")$segmentationData
table_of("cellseg", cells[, -(1:3)], cells$Class)
musk <- from("kernlab", "musk")$musk
table_of("musk", musk[, -167], musk[, 167])
spam <- from("kernlab", "spam")$spam
table_of("spam", spam[, -58], spam[, 58])
insurance <- from("kernlab", "ticdata")$ticdata
table_of("tic", insurance[, -ncol(insurance)], insurance[, ncol(insurance)])
promoters <- from("kernlab", "promotergene")$promotergene
table_of("promoter", model.matrix(~ . - 1, promoters[, -1]), promoters[, 1])
dna <- from("mlbench", "DNA")$DNA
table_of("dna", sapply(dna[, -181], function(x) as.integer(as.character(x))), dna[, 181])
soybean <- from("mlbench", "Soybean")$Soybean
table_of("soybean", sapply(soybean[, -1], as.integer), soybean[, 1])
speech <- as.data.frame(from("modeldata", "pd_speech")$pd_speech)
table_of("pd_speech", without(speech, "class"), speech$class)
alzheimer <- as.data.frame(from("modeldata", "ad_data")$ad_data)
numbers <- alzheimer[, sapply(alzheimer, is.numeric)]
table_of("ad_data", without(numbers, "Class"), alzheimer$Class)
