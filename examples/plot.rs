//! A line of losses as a picture, for the examples that train.

use std::error::Error;
use std::path::Path;

use plotters::prelude::*;

/// Draws losses over steps to an SVG file, whose folder is made where it is missing.
pub(crate) fn losses(path: &Path, title: &str, losses: &[f32]) -> Result<(), Box<dyn Error>> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    let highest = losses.iter().copied().fold(0.0, f32::max);
    let area = SVGBackend::new(path, (640, 360)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(32)
        .y_label_area_size(48)
        .build_cartesian_2d(0..losses.len().max(1), 0.0..highest.max(1e-3))?;
    chart.configure_mesh().x_desc("step").y_desc("loss").draw()?;
    chart.draw_series(LineSeries::new(losses.iter().copied().enumerate(), &BLUE))?;
    area.present()?;
    Ok(())
}
